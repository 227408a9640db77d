import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { daemonProtocol } from '@homeport/contracts/workspace/daemon';
import { z } from 'zod';
import { createDaemon } from '../../src/workspaces/daemon-client.ts';

/** A daemon that lies, hangs or floods costs a bounded time and answers one error. */

let folder: string;
let server: Server;
let socketPath: string;
let answer: (socket: Socket, head: string) => void;
const open = new Set<Socket>();
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hp-ld-'));
  socketPath = join(folder, 's');
  server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    let head = '';
    socket.on('data', (bytes) => {
      const before = head.includes('\r\n\r\n');
      head += bytes;
      if (!before && head.includes('\r\n\r\n')) answer(socket, head);
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
});
after(async () => {
  for (const socket of open) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const daemon = createDaemon({ address: async () => ({ socketPath }), token: 'the-token', healthMs: 5_000 });
const schema = z.object({ value: z.number() });
const json = (body: string, status = '200 OK', headers = '') =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
const answerWith = (text: string) => {
  answer = (socket) => socket.end(text);
};
const refused = (work: Promise<unknown>, code = 'workspace_request_failed') => assert.rejects(work, { code });
const health = {
  ok: true,
  protocol: daemonProtocol,
  generation: 1,
  bootId: 'b',
  lastActivityAt: new Date(0).toISOString(),
  active: { processes: 0, terminals: 0, transfers: 0 },
  usage: {
    memoryBytes: 1,
    memoryLimitBytes: null,
    processes: 1,
    homeBytes: 1,
    homeBytesLimit: null,
    homeFiles: 1,
    homeFilesLimit: null,
    full: null,
  },
};

test('accepts a valid answer, and sends the token', async () => {
  answer = (socket, head) => {
    assert.match(head, /^GET \/v1\/x HTTP\/1\.1\r\n/);
    assert.match(head, /authorization: Bearer the-token\r\n/);
    socket.end(json('{"value":1}'));
  };
  assert.deepEqual(await daemon.call('/v1/x', schema), { value: 1 });
  answerWith(json(JSON.stringify(health)));
  assert.equal((await daemon.health()).generation, 1);
});

test('reports any invalid answer as one error', async () => {
  const invalidAnswers = [
    'garbage\r\n\r\n',
    '',
    'HTTP/1.1 200 OK\r\n',
    json('{"value":"1"}'),
    json('null'),
    json('{"value":'),
    json('{"value":1}', '204 No Content'),
    json('{"value":1}', '302 Found', 'location: http://169.254.169.254/\r\n'),
    json('{"value":1}', '101 Switching Protocols', 'upgrade: websocket\r\nconnection: upgrade\r\n'),
    json('{"value":1}', '999 Odd'),
    json('<html>', '500 Broken'),
    json('{"error":{"code":"internal_error","message":"/proc/self/fd/7"}}', '500 Broken'),
    json('{"error":{"code":"unauthorized","message":"no"}}', '401 No'),
    json('{"error":{"code":"not_found","message":"not with this status"}}', '409 No'),
    json('{"error":{"code":"constructor","message":"no"}}', '400 No'),
    json(`{"error":{"code":"not_found","message":"${'x'.repeat(1001)}"}}`, '404 No'),
    `HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"value":1}`,
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\ncontent-length: 11\r\n\r\n{"value":1}`,
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
  ];
  for (const invalid of invalidAnswers) {
    answerWith(invalid);
    await refused(daemon.call('/v1/x', schema));
  }
});

test('a refusal for users keeps its code and its message', async () => {
  const refusals = [
    ['400 No', 'invalid_path'],
    ['400 No', 'invalid_request'],
    ['404 No', 'not_found'],
    ['409 No', 'path_taken'],
    ['413 No', 'payload_too_large'],
    ['507 No', 'storage_full'],
  ] as const;
  for (const [status, code] of refusals) {
    answerWith(json(JSON.stringify({ error: { code, message: 'In words' } }), status));
    await assert.rejects(daemon.call('/v1/x', schema), { code, message: 'In words' });
  }
});

test('a flood ends at 4 MiB, together with the connection', async () => {
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  answer = (socket) => {
    socket.once('close', () => closed.resolve());
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const chunk = Buffer.alloc(64 * 1024, 32);
    const pour = (): void => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
    };
    socket.on('drain', pour);
    pour();
  };
  await refused(daemon.call('/v1/x', schema));
  await closed.promise;
  assert.ok(sent < 32 * 1024 * 1024, String(sent));
});

test('gives up a daemon that hangs or drips after its timeout', async () => {
  for (const first of ['', 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n']) {
    let isAsked = false;
    const closed = Promise.withResolvers<void>();
    answer = (socket) => {
      isAsked = true;
      socket.write(first === '' ? '' : first);
      const drip = first === '' ? undefined : setInterval(() => socket.write(' '), 5);
      socket.once('close', () => {
        clearInterval(drip);
        closed.resolve();
      });
    };
    // On a slow machine its timeout can expire before the request is sent.
    for (let timeoutMs = 100; !isAsked; timeoutMs *= 2) await refused(daemon.call('/v1/x', schema, { timeoutMs }));
    await closed.promise;
  }
});

test('an aborted caller gets its own reason, and the connection is closed', async () => {
  const leaving = new AbortController();
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  answer = (socket) => {
    socket.once('close', () => closed.resolve());
    asked.resolve();
  };
  const work = daemon.call('/v1/x', schema, { signal: leaving.signal });
  const rejected = assert.rejects(work, { message: 'left' });
  await asked.promise;
  leaving.abort(new Error('left'));
  await rejected;
  await closed.promise;
});

test('reports a missing daemon as the same error', async () => {
  const nobody = createDaemon({
    address: async () => ({ socketPath: join(folder, 'nobody') }),
    token: 't',
    healthMs: 5_000,
  });
  await refused(nobody.call('/v1/x', schema));
  await refused(nobody.health());
});
