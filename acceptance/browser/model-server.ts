import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Json } from '../product.ts';

type Delta = { content: string } | { tool_calls: object[] };

/** A model over chat completions that answers each request with one delta, made from its messages. */
export async function startModelServer(answer: (messages: Json[]) => Delta) {
  const server = createServer(async (request, response) => {
    const { messages = [] }: { messages?: Json[] } = JSON.parse((await text(request)) || '{}');
    const delta = answer(messages);
    const events = [
      { choices: [{ index: 0, delta }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' in delta ? 'tool_calls' : 'stop' }] },
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, [Symbol.dispose]: () => void server.close() };
}
