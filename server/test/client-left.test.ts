import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from './app.ts';
import { until } from './chat-harness.ts';

/** Somebody who closes the page is no fault of the server. */

let app: TestApp;
const lines: string[] = [];
const connections: Promise<void>[] = [];
const silent = createServer((socket) => {
  socket.on('error', () => undefined).resume();
  connections.push(new Promise((resolve) => socket.once('close', () => resolve())));
});
before(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  app = await startTestApp({ log: (line) => lines.push(line) });
});
after(async () => {
  await app.stop();
  silent.close();
});

test('a client that leaves ends the call for it, and the log tells of no error', async () => {
  const user = await app.signIn();
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const leaving = new AbortController();
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const call = user.call('POST /api/providers/test', { baseUrl }, { signal: leaving.signal }).catch(() => undefined);
  await until(async () => connections.length > 0);
  leaving.abort();
  await call;
  await connections[0];
  const told = await until(async () => lines.find((line) => line.includes('/api/providers/test')));
  const { level, code, status } = JSON.parse(told);
  assert.deepEqual([level, code, status], [30, 'client_left', 499]);
  assert.ok(!lines.some((line) => line.includes('request failed')));
});
