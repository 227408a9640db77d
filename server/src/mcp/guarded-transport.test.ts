import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMcpFetch } from './guarded-transport.ts';

const origin = 'https://mcp.example';
const nothing = (): void => undefined;

async function throughTheGuard(pieces: readonly string[]): Promise<string> {
  const body = ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)));
  const headers = { 'content-type': 'text/event-stream' };
  const base = () => Promise.resolve(new Response(body, { headers }));
  const guarded = createMcpFetch(base, origin, { onFailure: nothing, onBroken: nothing, onStream: nothing });
  return (await guarded(`${origin}/mcp`)).text();
}

test('events of a server reach their reader with line feeds alone, however they are cut', {
  timeout: 10_000,
}, async () => {
  const wire = ': x\r\n\ndata: é\rdata: b\r\n\r\n\r\rdata: c\n\n\r';
  const expected = wire.replace(/\r\n?/g, '\n');
  for (let first = 0; first <= wire.length; first++) {
    for (let second = first; second <= wire.length; second++) {
      const pieces = [wire.slice(0, first), wire.slice(first, second), wire.slice(second)].filter(
        (text) => text !== '',
      );
      assert.equal(await throughTheGuard(pieces), expected, JSON.stringify(pieces));
    }
  }
});
