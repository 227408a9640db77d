import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, test } from 'node:test';
import { EventStream } from './event-stream.ts';

const server = createServer();
let port = 0;
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address: AddressInfo | string | null = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
after(() => server.close().closeAllConnections());

async function open(): Promise<{ outgoing: ServerResponse; client: ReturnType<typeof connect> }> {
  const client = connect(port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const [, outgoing] = await once(server, 'request');
  return { outgoing, client };
}

test('reports a client that disconnected before its stream began', async () => {
  const { outgoing, client } = await open();
  client.destroy();
  await once(outgoing, 'close');
  let left = 0;
  const stream = new EventStream(outgoing, {}, () => {
    left += 1;
  });
  assert.equal(left, 1);
  assert.equal(stream.closed, true);
});

test('sends a late follower a backlog larger than the bound for slow readers', async () => {
  const { outgoing, client } = await open();
  const stream = new EventStream(outgoing, {}, () => undefined);
  const event = `data: ${'x'.repeat(20 * 1024 * 1024)}\n\n`;
  let received = 0;
  client.on('data', (chunk) => {
    received += chunk.length;
  });
  stream.write(event);
  stream.end('data: [DONE]\n\n');
  await once(outgoing, 'finish');
  assert.equal(outgoing.writableFinished, true);
  client.end();
  await once(client, 'close');
  assert.ok(received > event.length);
});

test('disconnects a reader that falls too far behind', async () => {
  const { outgoing, client } = await open();
  client.pause();
  let left = 0;
  const stream = new EventStream(outgoing, {}, () => {
    left += 1;
  });
  const event = `data: ${'x'.repeat(1024 * 1024)}\n\n`;
  for (let sent = 0; sent < 64 && !outgoing.destroyed; sent += 1) {
    stream.write(event);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (left === 0) await once(outgoing, 'close');
  assert.equal(left, 1);
  client.destroy();
});
