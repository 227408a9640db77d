import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startTestApp } from '../app.ts';

test('closes connections above the limit immediately and logs it', async () => {
  const lines: string[] = [];
  const app = await startTestApp({ config: { maxConnections: 10 }, log: (line) => lines.push(line) });
  const port = Number(new URL(app.url).port);
  const open = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const accepted = once(app.service.server, 'connection');
      const socket = connect(port, '127.0.0.1');
      await Promise.all([accepted, once(socket, 'connect')]);
      return socket;
    }),
  );
  for (let more = 0; more < 3; more += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    await once(socket, 'close');
  }
  assert.equal(lines.filter((line) => line.includes('refusing new connections')).length, 1);
  const [left] = open;
  left?.destroy();
  await once(left ?? connect(port), 'close');
  for (const socket of open) socket.destroy();
  await app.stop();
});
