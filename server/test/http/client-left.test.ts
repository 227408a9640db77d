import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { startTestApp, type TestApp } from '../app.ts';

/** A user who closes the page causes no server error. */

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

test('a client that disconnects ends its call, and no error is logged', async () => {
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
  const logged = await until(async () => lines.find((line) => line.includes('/api/providers/test')));
  const { level, code, status } = JSON.parse(logged);
  assert.deepEqual([level, code, status], [30, 'client_left', 499]);
  assert.ok(!lines.some((line) => line.includes('request failed')));
});

test('a client that disconnects during a file of the browser client is not an error', async () => {
  const webFolder = await mkdtemp(join(tmpdir(), 'homeport-web-'));
  await mkdir(join(webFolder, 'assets'));
  await writeFile(join(webFolder, 'assets/large.js'), Buffer.alloc(64 * 1024 * 1024));
  const logged: string[] = [];
  const own = await startTestApp({ webFolder, log: (line) => logged.push(line) });
  const complaints: unknown[] = [];
  const complain = console.error;
  console.error = (...given) => complaints.push(given);
  try {
    const { hostname, port } = new URL(own.url);
    const socket = connect(Number(port), hostname);
    const asked = once(own.service.server, 'request');
    socket.write('GET /assets/large.js HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const [, outgoing]: ServerResponse[] = await asked;
    await once(socket, 'data');
    socket.destroy();
    if (outgoing?.closed === false) await once(outgoing, 'close');
    // All consequences of the failed answer have run once another request has been answered.
    await own.anonymous.call('GET /api/health');
    assert.deepEqual(complaints, []);
    assert.deepEqual(
      // The data folder of a test doesn't exist, which is also logged.
      logged.filter((line) => JSON.parse(line).level >= 40 && !line.includes('DATA_DIR')),
      [],
    );
  } finally {
    console.error = complain;
    await own.stop();
    await rm(webFolder, { recursive: true });
  }
});
