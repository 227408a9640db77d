import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { type BodyReading, readJsonBody } from './request-body.ts';

const reading: BodyReading = {
  maxBytes: 12_000_000,
  pace: { graceMs: 10_000, bytesPerSecond: 16 * 1024, totalMs: 60_000 },
  takeRoom: async () => () => undefined,
};
const server = createServer();
let url = '';
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address === 'object' && address !== null) url = `http://127.0.0.1:${address.port}`;
});
after(() => server.close().closeAllConnections());

/** The result of a request with this body. */
async function read(body: string): Promise<unknown> {
  const answered = fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  const [incoming, outgoing]: [IncomingMessage, { end(): void }] = await awaitRequest();
  const value = await readJsonBody(incoming, reading).then(
    (read) => read.value,
    (error: unknown) => error,
  );
  incoming.resume();
  outgoing.end();
  await answered;
  return value;
}

async function awaitRequest(): Promise<[IncomingMessage, { end(): void }]> {
  const [incoming, outgoing] = await once(server, 'request');
  return [incoming, outgoing];
}

async function faultOf(body: string): Promise<unknown> {
  const value = await read(body);
  assert.ok(value instanceof ApiError, 'refused');
  assert.equal(value.code, 'invalid_request');
  return value.details;
}

test('rejects a body with too many values before parsing it', async () => {
  const inArray = await read(`[${'1,'.repeat(99_000)}1]`);
  assert.equal(Array.isArray(inArray) && inArray.length, 99_001);
  assert.match(JSON.stringify(await faultOf(`[${'1,'.repeat(5_000_000)}1]`)), /more than 100000 values/);
  const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`)}}`;
  assert.equal(Object.keys(Object(await read(members(10_000)))).length, 10_000);
  assert.match(JSON.stringify(await faultOf(members(10_001))), /more than 10000 named members/);
});

test('names a value that cannot be stored by its dotted path, at any allowed depth', async () => {
  const torn = 'Contains a NUL character or half a surrogate pair';
  assert.deepEqual(await faultOf('"\\u0000"'), [{ path: '', message: torn }]);
  assert.deepEqual(await faultOf('{"a":[{"b":"x"},{"c":"\\ud800"}]}'), [{ path: 'a.1.c', message: torn }]);
  const name = 'A member name contains a NUL character or half a surrogate pair';
  assert.deepEqual(await faultOf('{"a":{"\\u0000":1}}'), [{ path: 'a', message: name }]);
  const reserved = 'A member cannot have this name';
  assert.deepEqual(await faultOf('{"a":{"__proto__":"b"}}'), [{ path: 'a.__proto__', message: reserved }]);
  assert.equal((await read('['.repeat(64) + ']'.repeat(64))) instanceof ApiError, false);
  for (const depth of [65, 2_000_000]) {
    assert.match(JSON.stringify(await faultOf('['.repeat(depth) + ']'.repeat(depth))), /deeper than 64/);
  }
});
