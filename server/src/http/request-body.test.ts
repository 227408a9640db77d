import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { readJsonBody } from './request-body.ts';

const maxBytes = 12_000_000;
const server = createServer();
let url = '';
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address === 'object' && address !== null) url = `http://127.0.0.1:${address.port}`;
});
after(() => server.close().closeAllConnections());

/** What a request with this body comes to; the work of reading it is measured where it is done. */
async function read(body: string): Promise<{ value: unknown; heapBytes: number }> {
  const answered = fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  const [incoming, outgoing]: [IncomingMessage, { end(): void }] = await awaitRequest();
  const before = process.memoryUsage().heapTotal;
  const value = await readJsonBody(incoming, maxBytes).catch((error: unknown) => error);
  const heapBytes = process.memoryUsage().heapTotal - before;
  outgoing.end();
  await answered;
  return { value, heapBytes };
}

async function awaitRequest(): Promise<[IncomingMessage, { end(): void }]> {
  const [incoming, outgoing] = await once(server, 'request');
  return [incoming, outgoing];
}

async function faultOf(body: string): Promise<unknown> {
  const { value } = await read(body);
  assert.ok(value instanceof ApiError, 'refused');
  assert.equal(value.code, 'invalid_request');
  return value.details;
}

test('a body of millions of values costs little more than its values', async () => {
  const { value, heapBytes } = await read(`[${'1,'.repeat(5_000_000)}1]`);
  assert.equal(Array.isArray(value) && value.length, 5_000_001);
  assert.ok(heapBytes < 400_000_000, `${heapBytes} bytes of heap`);
});

test('what cannot be stored is named by its dotted path, at any depth that is allowed', async () => {
  const torn = 'Holds a NUL character or half a surrogate pair';
  assert.deepEqual(await faultOf('"\\u0000"'), [{ path: '', message: torn }]);
  assert.deepEqual(await faultOf('{"a":[{"b":"x"},{"c":"\\ud800"}]}'), [{ path: 'a.1.c', message: torn }]);
  const name = 'A member name holds a NUL character or half a surrogate pair';
  assert.deepEqual(await faultOf('{"a":{"\\u0000":1}}'), [{ path: 'a', message: name }]);
  assert.deepEqual(await faultOf('{"__proto__":"\\u0000"}'), [{ path: '__proto__', message: torn }]);
  assert.equal((await read('['.repeat(64) + ']'.repeat(64))).value instanceof ApiError, false);
  const [deep] = Object.values(Object(await faultOf('['.repeat(65) + ']'.repeat(65))));
  assert.match(JSON.stringify(deep), /deeper than 64/);
  const [deepest] = Object.values(Object(await faultOf('['.repeat(2_000_000) + ']'.repeat(2_000_000))));
  assert.match(JSON.stringify(deepest), /deeper than 64/);
});
