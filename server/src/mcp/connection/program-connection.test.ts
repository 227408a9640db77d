import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { McpConnection } from './connection.ts';

type Message = { id?: number; method: string; params?: { requestId?: number } };

/** A connection to a program in this process that answers everything but calls of tools; `onMessage` gets everything. */
async function openProgram(onMessage: (message: Message) => void): Promise<McpConnection> {
  const [own, program] = duplexPair();
  const answers: Record<string, unknown> = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } },
    'tools/list': { tools: [{ name: 'wait', inputSchema: { type: 'object' } }] },
  };
  createInterface({ input: program }).on('line', (line) => {
    const message: Message = JSON.parse(line);
    const result = answers[message.method];
    onMessage(message);
    if (result !== undefined) program.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n`);
  });
  const deps = { fetch: () => assert.fail('no request'), version: '1', now: Date.now };
  const target = { url: '', transport: 'stdio' as const, headers: {} };
  const run = { command: 'p', args: [], secrets: [], open: async () => own };
  return McpConnection.open(deps, { ...target, program: run }, new AbortController().signal);
}

test('tells a program that its call is canceled before the connection closes', async () => {
  const stop = new AbortController();
  let called: number | undefined;
  const canceled = new Promise<Message>((resolve) => {
    void openProgram((message) => {
      if (message.method === 'notifications/cancelled') resolve(message);
      if (message.method !== 'tools/call') return;
      called = message.id;
      stop.abort(new Error('stopped'));
    }).then(async (connection) => {
      const { tools } = await connection.list();
      const [tool] = tools;
      assert.ok(tool);
      await assert.rejects(connection.call(tool, {}, stop.signal));
      assert.equal(connection.isUsable, false);
    });
  });
  assert.equal((await canceled).params?.requestId, called);
});
