import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { mcpBounds } from '../bounds.ts';
import { ProgramTransport } from './program-transport.ts';

/** Feeds a program's output in pieces of `size` bytes. Returns the parsed messages and the broken bounds. */
async function read(
  output: string,
  size: number,
): Promise<{ messages: JSONRPCMessage[]; broken: string[]; wrote: string }> {
  const [own, program] = duplexPair();
  const messages: JSONRPCMessage[] = [];
  const broken: string[] = [];
  const transport = new ProgramTransport(own, ['precious-value'], {
    onBroken: (error) => broken.push(error.message),
    onFailure: () => undefined,
  });
  transport.onmessage = (message) => void messages.push(message);
  const ended = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  const bytes = Buffer.from(output);
  for (let from = 0; from < bytes.length && broken.length === 0; from += size) {
    if (!program.write(bytes.subarray(from, from + size))) await new Promise((resolve) => setImmediate(resolve));
  }
  program.end();
  await ended;
  return { messages, broken, wrote: transport.wrote };
}

const message = (id: number, text = ''): string => `${JSON.stringify({ jsonrpc: '2.0', id, result: { text } })}\n`;

test('reads messages from pieces of any size and skips other lines', async () => {
  const output = `starting …\n${message(1, 'ä😀'.repeat(3_000))}\n{"broken\n${message(2)}done\n${message(3)}`;
  for (const size of [1, 7, 4_096, 1_000_000]) {
    const { messages, broken } = await read(output, size);
    assert.deepEqual(
      messages,
      JSON.parse(`[${[1, 2, 3].map((id) => message(id, id === 1 ? 'ä😀'.repeat(3_000) : ''))}]`),
    );
    assert.deepEqual(broken, [], `${size}`);
  }
});

test('closes the connection on a line that is too long, complete or not', async () => {
  for (const end of ['', '\n']) {
    const { messages, broken } = await read(`${message(1)}${'x'.repeat(mcpBounds.messageBytes + 1)}${end}`, 65_536);
    assert.deepEqual([messages.length, broken.length], [1, 1]);
  }
});

test('reads the first message behind a banner without a line feed or a byte order mark, and no message in a log line', async () => {
  const quoted = message(9).trim();
  for (const banner of ['Server started on stdio ', '\ufeff', 'listening {port: 1} ']) {
    for (const size of [1, 4_096]) {
      const { messages } = await read(`${banner}${message(1)}got ${quoted}\n${message(2)}`, size);
      assert.deepEqual(messages, [JSON.parse(message(1)), JSON.parse(message(2))], banner);
    }
  }
});

test('keeps the beginning of what a program writes instead of messages, without its secrets', async () => {
  const { wrote } = await read('\ufeffKey precious-value is\u0007 wrong\r\nServer started on http://localhost:3', 5);
  assert.equal(wrote, 'Key … is wrong Server started on http://localhost:3');
  assert.equal((await read(`${'x'.repeat(5_000)}\n`.repeat(5), 1_000)).wrote, 'x'.repeat(200));
  assert.equal((await read(message(1), 1_000)).wrote, '');
});
