import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, test } from 'node:test';
import { workspacePorts } from '@homeport/contracts/workspace/daemon';
import { readListening } from '../src/daemon/ports/listening.ts';
import { type RunningDaemon, startDaemon } from './running-daemon.ts';

let daemon: RunningDaemon;
before(async () => {
  daemon = await startDaemon({ HOMEPORT_EGRESS: 'tcp:127.0.0.1:9' });
});
after(() => daemon.stop());

/** The bytes of a connection to a port, or the status of the refusal. */
function tunnel(query: string): Promise<Duplex | number> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      socketPath: daemon.socketPath,
      path: `/v1/tunnel?${query}`,
      agent: false,
      headers: {
        authorization: 'Bearer the-token-of-this-generation',
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      },
    });
    outgoing.on('error', reject);
    outgoing.on('upgrade', (_incoming, socket) => resolve(socket));
    outgoing.on('response', (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? 0);
    });
    outgoing.end();
  });
}

async function answerOf(stream: Duplex): Promise<string> {
  stream.write('GET /where?a=b HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

for (const host of ['127.0.0.1', '::1', '0.0.0.0']) {
  test(`lists a program that listens on ${host} with its command and tunnels to it`, async () => {
    const app = createServer((incoming, outgoing) => outgoing.end(`asked for ${incoming.url}`));
    await new Promise<void>((resolve) => app.listen(0, host, resolve));
    const { port } = app.address() as AddressInfo;
    try {
      const { ports } = workspacePorts.parse(JSON.parse((await daemon.call('/v1/ports')).text));
      assert.match(ports.find((listed) => listed.port === port)?.command ?? '', /node/);
      const stream = await tunnel(`port=${port}`);
      assert.ok(typeof stream !== 'number');
      assert.match(await answerOf(stream), /asked for \/where\?a=b/);
    } finally {
      app.close();
    }
    assert.equal(await tunnel(`port=${port}`), 404);
  });
}

test('forwards bytes both ways and closes when the other side closes', async () => {
  const app = createTcpServer((socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
  const stream = await tunnel(`port=${(app.address() as AddressInfo).port}`);
  assert.ok(typeof stream !== 'number');
  const sent = Buffer.alloc(3_000_000, 'x');
  stream.end(sent);
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) bytes += chunk.length;
  assert.equal(bytes, sent.length);
  app.close();
});

test('refuses invalid ports, the daemon’s own ports and requests without the token', async () => {
  for (const query of ['', 'port=0', 'port=65536', 'port=8e1', 'port=-1', 'port=08']) {
    assert.equal(await tunnel(query), 400, query);
  }
  assert.equal(await tunnel('port=3128'), 404);
  assert.equal((await daemon.call('/v1/ports', { token: 'another' })).status, 401);
  const { ports } = workspacePorts.parse(JSON.parse((await daemon.call('/v1/ports')).text));
  assert.ok(ports.every(({ port }) => port !== 3128));
});

test('lists only the lowest hundred ports', async () => {
  const apps = Array.from({ length: 120 }, () => createTcpServer());
  await Promise.all(apps.map((app) => new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))));
  const { ports } = workspacePorts.parse(JSON.parse((await daemon.call('/v1/ports')).text));
  const numbers = ports.map(({ port }) => port);
  assert.equal(numbers.length, 100);
  assert.deepEqual(
    numbers,
    numbers.toSorted((one, other) => one - other),
  );
  for (const app of apps) app.close();
});

test('reads the sockets that accept connections at loopback from the kernel’s table', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1
   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12 1
   2: 0100007F:1F91 0100007F:1234 01 00000000:00000000 00:00000000 00000000  1000        0 13 1
   3: 0502000A:1F92 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 14 1
   4: 00000000000000000000000001000000:1F93 00000000000000000000000000000000:0000 0A 0:0 00:0 0  1000        0 15 1
   5: 00000000000000000000000000000000:1F94 00000000000000000000000000000000:0000 0A 0:0 00:0 0  1000        0 16 1
nonsense
`;
  const found = readListening(table);
  assert.deepEqual(found, [
    ['11', 8080],
    ['12', 80],
    ['15', 8083],
    ['16', 8084],
  ]);
});
