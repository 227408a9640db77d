import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  daemonError,
  daemonHealth,
  daemonProtocol,
  egressBridgePort,
  modelsPort as modelsPortOfContract,
} from '@homeport/contracts/workspace/daemon';
import { bridgePort, modelsPort, protocolVersion } from '../src/daemon/config.ts';
import { startEgressBridge } from '../src/daemon/egress-bridge.ts';
import { type RunningDaemon, startDaemon } from './running-daemon.ts';

let daemon: RunningDaemon;
before(async () => {
  daemon = await startDaemon();
});
after(() => daemon.stop());

test('uses the ports and the version of the contract', () => {
  assert.deepEqual([bridgePort, modelsPort, protocolVersion], [egressBridgePort, modelsPortOfContract, daemonProtocol]);
});

test('answers health briefly without a token and fully with one', async () => {
  for (const token of ['', 'wrong']) {
    const { status, text } = await daemon.call('/v1/health', { token });
    assert.deepEqual([status, text], [200, `{"ok":true,"protocol":${daemonProtocol}}`]);
  }
  const health = daemonHealth.parse(JSON.parse((await daemon.call('/v1/health')).text));
  assert.equal(health.generation, 7);
  assert.ok(health.usage.memoryBytes > 0);
  assert.ok(health.usage.processes > 0);
});

test('requires the token on every other endpoint', async () => {
  const places = ['/v1/files', '/v1/exec', '/v1/processes', '/v1/terminal', '/v1/shutdown', '/', '/nope'];
  const wrong = ['', 'Bearer', 'Basic eDp5', 'Bearer x'];
  for (const path of places) {
    for (const authorization of wrong) {
      const headers: Record<string, string> = authorization === '' ? {} : { authorization };
      const { status, text } = await daemon.call(path, { token: '', headers });
      assert.equal(status, 401, path);
      assert.equal(daemonError.parse(JSON.parse(text)).error.code, 'unauthorized');
    }
  }
});

test('rejects unknown paths and methods, wrong types and invalid JSON', async () => {
  assert.equal((await daemon.call('/nope')).status, 404);
  const refused = await daemon.call('/v1/exec', { method: 'DELETE' });
  assert.equal(refused.status, 405);
  assert.equal(refused.headers.allow, 'GET, POST');
  assert.equal((await daemon.call('/v1/exec', { method: 'POST', body: '{}' })).status, 415);
  const headers = { 'content-type': 'application/json' };
  for (const body of ['', '{', 'null', '[]', '1', '\xff']) {
    assert.equal((await daemon.call('/v1/exec', { method: 'POST', body, headers })).status, 400);
  }
  assert.equal((await daemon.call('/v1/processes/%ff/output')).status, 400);
});

test('survives invalid HTTP and floods of headers', async () => {
  const hostile = [
    'nonsense\r\n\r\n',
    '\0\0\0\0',
    `GET / HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(5000)}\r\n`,
    `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    'POST /v1/exec HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
    'GET http://other/v1/exec HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /v1/terminal HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: nonsense\r\n\r\n',
  ];
  for (const text of hostile) assert.doesNotMatch(await raw(text), /^HTTP\/1\.1 (2|500)/, text.slice(0, 60));
  assert.equal((await daemon.call('/v1/health')).status, 200);
});

function raw(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(daemon.socketPath);
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += String(chunk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.end(text);
  });
}

test('answers a shutdown, then ends the daemon', async () => {
  const own = await startDaemon();
  const closed = new Promise((resolve) => own.child.once('close', resolve));
  assert.equal((await own.call('/v1/shutdown', { method: 'POST' })).text, '{"ok":true}');
  await closed;
  assert.equal(own.child.exitCode, 0);
  await own.stop();
});

test('adds the token to requests in the bridge and rejects a client’s own', async () => {
  const tokenFile = join(daemon.folder, 'token');
  writeFileSync(tokenFile, 'wst_secret\n');
  const heads: string[] = [];
  const upstream = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (chunk: Buffer) => {
      heads.push(String(chunk));
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.on('data', (more: Buffer) => socket.end(`echo:${more}`));
    });
  });
  const path = join(daemon.folder, 'egress');
  await new Promise<void>((resolve) => upstream.listen(path, resolve));
  const bridge = await startEgressBridge({ egress: { path }, tokenFile, port: 0 });
  const address = bridge.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const ask = (head: string, then?: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk: Buffer) => {
        if (answer === '' && then !== undefined) socket.write(then);
        answer += String(chunk);
        if (then === undefined) socket.end();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(answer));
      socket.write(head);
    });
  const tunnel =
    'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\nProxy-Authorization: Bearer forged\r\n\r\n';
  assert.match(await ask(tunnel, 'through'), /200 Connection established\r\n\r\necho:through$/);
  await ask('GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\nConnection: keep-alive\r\n\r\n');
  const [first = '', second = ''] = heads;
  assert.equal(first.match(/proxy-authorization: Bearer wst_secret\r\n/g)?.length, 1);
  assert.doesNotMatch(first, /forged/);
  assert.match(second, /^GET http:\/\/example\.org\/ HTTP\/1\.1\r\n/);
  assert.match(second, /proxy-authorization: Bearer wst_secret\r\nconnection: close\r\n\r\n$/);
  assert.doesNotMatch(second, /keep-alive/);
  for (const head of [
    'GET / HTTP/1.1\r\n\r\n',
    'nonsense\r\n\r\n',
    `GET http://x/ HTTP/1.1\r\na: ${'x'.repeat(20_000)}`,
  ]) {
    assert.match(await ask(head), /^HTTP\/1\.1 400 /);
  }
  await new Promise((resolve) => upstream.close(resolve));
  assert.match(await ask(tunnel), /^HTTP\/1\.1 502 /);
  await new Promise((resolve) => bridge.close(resolve));
});
