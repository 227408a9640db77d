import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bench } from './bench.ts';
import { type Product, startProduct } from './product.ts';
import { Histogram } from './statistics.ts';

const callsPerTurn = 10;

/**
 * Measures the time of a shell call: from the frame of the call to the frame of its result, for an empty command in a
 * running `local` workspace. The model makes one call after the other.
 */
export async function measureShell(bench: Bench): Promise<void> {
  const provider = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  const product = await startProduct({ dist: bench.dist, providerPort: port, env: { WORKSPACE_MODE: 'local' } });
  try {
    await product.call('POST', '/api/workspace/status');
    const chatIds = await product.createChats(bench.quick ? 3 : 20);
    const [warmUp = '', ...measured] = chatIds;
    await takeTurn(product, warmUp, new Histogram());
    const times = new Histogram();
    for (const chatId of measured) await takeTurn(product, chatId, times);
    for (const [what, share] of [
      ['p50', 0.5],
      ['p95', 0.95],
    ] as const) {
      bench.report.add({
        part: 'shell',
        what: `a call of the shell, ${what}`,
        measured: times.percentile(share),
        unit: 'ms',
        judge: 'value',
        ...(share === 0.5 ? { limit: { at: 'most', value: 30 } } : {}),
        note: `(${times.count} calls of \`true\`)`,
      });
    }
    await product.call('DELETE', '/api/workspace/status');
  } finally {
    await product.stop();
    provider.closeAllConnections();
    provider.close();
  }
}

/** Asks for `true` until there are enough results in the conversation. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { messages = [] } = JSON.parse(body || '{}') as { messages?: { role: string }[] };
  const results = messages.filter(({ role }) => role === 'tool').length;
  const call = { index: 0, id: `call-${results}`, type: 'function', function: { name: 'bash', arguments: command } };
  const delta = results < callsPerTurn ? { tool_calls: [call] } : { content: 'done' };
  const reason = results < callsPerTurn ? 'tool_calls' : 'stop';
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const choice of [
    { index: 0, delta },
    { index: 0, delta: {}, finish_reason: reason },
  ]) {
    response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [choice] })}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

const command = JSON.stringify({ command: 'true' });

async function takeTurn(product: Product, chatId: string, times: Histogram): Promise<void> {
  const messageId = `m-${chatId}`;
  const message = { id: messageId, parts: [{ type: 'text', text: 'go' }] };
  await product.call('POST', '/api/chat/start', { chatId, message });
  const response = await fetch(`http://127.0.0.1:${product.port}/api/chat`, {
    method: 'POST',
    headers: { cookie: product.cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ chatId, messageId }),
  });
  if (!response.ok || response.body === null) throw new Error(`POST /api/chat answered ${response.status}`);
  const decoder = new TextDecoder();
  let buffer = '';
  let calledAt = 0;
  let calls = 0;
  for await (const piece of response.body) {
    const events = (buffer + decoder.decode(piece, { stream: true })).split('\n\n');
    buffer = events.pop() ?? '';
    for (const event of events) {
      if (event.includes('"tool-output-error"')) throw new Error(`A call failed: ${event}`);
      if (event.includes('"tool-input-available"')) calledAt = performance.now();
      if (!event.includes('"tool-output-available"') || event.includes('"preliminary"')) continue;
      times.add(performance.now() - calledAt);
      calls += 1;
    }
  }
  if (calls !== callsPerTurn) throw new Error(`${calls} calls came to a result, not ${callsPerTurn}`);
}
