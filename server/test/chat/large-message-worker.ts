import { createServer } from 'node:http';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createCaller } from '../app.ts';

/** A person and a provider in a thread of their own: the service's event loop runs neither. */
export type LargeMessages = { url: string; cookie: string | undefined };
/** A named step, sent before and after it runs. */
export type StepNotice = { step: string; state: 'begins' | 'ended'; status?: number };

const dataUrl = `data:image/png;base64,${Buffer.concat([
  Buffer.from('89504e470d0a1a0a', 'hex'),
  Buffer.alloc(7_300_000, 7),
]).toString('base64')}`;
const messages = {
  'ten long texts': Array.from({ length: 10 }, (_, index) => ({ type: 'text', text: `${index}`.repeat(990_000) })),
  'a long data URL': [
    { type: 'text', text: 'look' },
    { type: 'file', mediaType: 'image/png', filename: 'a.png', url: dataUrl },
  ],
};

const { url, cookie }: LargeMessages = workerData;
const port = parentPort as MessagePort;
const person = createCaller(url, cookie);

const provider = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}\n\n');
    response.end('data: [DONE]\n\n');
  });
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
const address = provider.address();
if (address === null || typeof address === 'string') throw new Error('The provider has no port');
const made = await person.call('POST /api/providers', {
  name: 'Plain',
  kind: 'openai',
  baseUrl: `http://127.0.0.1:${address.port}/v1`,
  apiKey: 'sk-test-key',
});
await person.call('POST /api/models', {
  providerId: made.body.provider.id,
  providerModelId: 'plain',
  displayName: 'plain',
  contextWindow: 20_000_000,
  maxOutputTokens: 4_000,
  tier: 1,
});

for (const [name, parts] of Object.entries(messages)) {
  const chatId: string = (await person.call('POST /api/chats', {})).body.chat.id;
  const message = { id: `${name}-${chatId}`.replaceAll(' ', '-'), parts };
  await step(`${name}: sent`, () => person.fetch('/api/chat/start', json({ chatId, message })));
  await step(`${name}: answered`, () => person.fetch('/api/chat', json({ chatId, messageId: message.id })));
  await step(`${name}: read`, () => person.fetch(`/api/chats?id=${chatId}`));
  await step(`${name}: searched`, () => person.fetch('/api/chats?q=done'));
}
provider.close();
port.postMessage(undefined);

async function step(name: string, work: () => Promise<Response>): Promise<void> {
  port.postMessage({ step: name, state: 'begins' } satisfies StepNotice);
  const response = await work();
  await response.arrayBuffer();
  port.postMessage({ step: name, state: 'ended', status: response.status } satisfies StepNotice);
}

function json(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
