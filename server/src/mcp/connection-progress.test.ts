import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { mock, test } from 'node:test';
import { mcpBounds } from './bounds.ts';
import { McpConnection } from './connection/connection.ts';

/** A program whose messages the test writes, in a time that the test moves. */

type Message = { id?: number; method?: string; params?: { _meta?: { progressToken?: number } } };

async function open() {
  const [own, program] = duplexPair();
  const received: Message[] = [];
  const heard = Promise.withResolvers<Message>();
  const send = (message: object): void => void program.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let rest = '';
  program.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const message: Message = JSON.parse(line);
      received.push(message);
      if (message.method === 'initialize') {
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, logging: {} },
          serverInfo: { name: 'p', version: '1' },
        };
        send({ id: message.id, result });
      }
      if (message.method === 'tools/call') heard.resolve(message);
    }
  });
  const target = {
    ...({ url: '', transport: 'stdio', headers: {} } as const),
    program: { command: 'p', args: [], secrets: [], open: async () => own },
  } as const;
  const deps = { fetch, version: '1', now: Date.now };
  const connection = await McpConnection.open(deps, target, new AbortController().signal);
  return { connection, send, heard: heard.promise };
}

const tool = { name: 'slow', inputSchema: { type: 'object' } };
const soon = () => new Promise((resolve) => setImmediate(resolve));

async function tick(milliseconds: number): Promise<void> {
  await soon();
  mock.timers.tick(milliseconds);
  await soon();
}

test('extends a call while progress arrives, reports it with log lines, and ends a silent call', async () => {
  const { connection, send, heard } = await open();
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  try {
    const said: string[] = [];
    const call = connection.call(tool, {}, new AbortController().signal, { onProgress: (line) => said.push(line) });
    const progressToken = (await heard).params?._meta?.progressToken;
    for (let step = 1; step <= 3; step += 1) {
      await tick(mcpBounds.callMs - 1000);
      send({ method: 'notifications/progress', params: { progressToken, progress: step, total: 3, message: 'on it' } });
      send({ method: 'notifications/message', params: { level: 'info', data: `log ${step}` } });
      await tick(0);
    }
    assert.deepEqual(said, ['1/3 · on it', 'log 1', '2/3 · on it', 'log 2', '3/3 · on it', 'log 3']);
    const ended = assert.rejects(call);
    await tick(mcpBounds.callMs + 1000);
    await ended;
  } finally {
    mock.timers.reset();
    connection.close();
  }
});

test('ends a call at its total time limit despite endless progress', async () => {
  const { connection, send, heard } = await open();
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  try {
    let isOver = false;
    const call = connection.call(tool, {}, new AbortController().signal).catch(() => {
      isOver = true;
    });
    const progressToken = (await heard).params?._meta?.progressToken;
    for (let spent = 0; spent <= mcpBounds.callTotalMs && !isOver; spent += 60_000) {
      await tick(60_000);
      send({ method: 'notifications/progress', params: { progressToken, progress: spent } });
      await tick(0);
    }
    assert.ok(isOver);
    await call;
  } finally {
    mock.timers.reset();
    connection.close();
  }
});
