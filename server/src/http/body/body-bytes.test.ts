import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@homeport/contracts/errors';
import { type BodyPace, readBytes } from './body-bytes.ts';

const server = createServer();
let port = 0;
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
after(() => server.close().closeAllConnections());

async function begin(declared: number): Promise<{ incoming: IncomingMessage; client: Socket }> {
  const client = connect(port, '127.0.0.1');
  client.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${declared}\r\n\r\n`);
  const [incoming] = await once(server, 'request');
  return { incoming, client };
}

const quick: BodyPace = { graceMs: 20, bytesPerSecond: 1, totalMs: 600_000 };

test('gives up a body that does not arrive in time, whatever its announced length', {
  timeout: 180_000,
}, async () => {
  const { incoming, client } = await begin(1_000_000);
  const given = await readBytes(incoming, { maxBytes: 1_000_000, pace: quick }).catch((error: unknown) => error);
  assert.ok(given instanceof ApiError);
  assert.deepEqual([given.code, given.message], ['invalid_request', 'The request body arrived too slowly']);
  client.destroy();
});

test('reads a body that keeps the minimum rate to its end', { timeout: 180_000 }, async () => {
  const { incoming, client } = await begin(10);
  client.write('12345');
  // They are there when the time begins: only the rate counts, not the grace.
  await once(incoming, 'readable');
  const read = readBytes(incoming, { maxBytes: 10, pace: { ...quick, bytesPerSecond: 0.01 } });
  // After the grace.
  void delay(3 * quick.graceMs).then(() => client.write('67890'));
  assert.equal(String(await read), '1234567890');
  client.destroy();
});

test('reports a body that is cut off', { timeout: 180_000 }, async () => {
  const { incoming, client } = await begin(10);
  const read = readBytes(incoming, { maxBytes: 10, pace: { ...quick, graceMs: 60_000 } });
  client.destroy();
  const given = await read.catch((error: unknown) => error);
  assert.ok(given instanceof ApiError && /ended before/.test(given.message));
});
