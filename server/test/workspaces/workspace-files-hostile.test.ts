import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { upload } from '../artifacts/artifact-makers.ts';
import { ScriptedDaemons } from '../fakes/scripted-daemon.ts';
import { quiet } from './workspace-makers.ts';

/**
 * A hostile daemon that lies, hangs or floods: bounded answers with the code of the contract, and none of its data
 * reaches the client.
 */

let app: TestApp;
let user: SignedIn;
let daemons: ScriptedDaemons;
before(async () => {
  daemons = await new ScriptedDaemons().listen();
  app = await startTestApp({ workspaceRuntime: daemons, workspaceTimings: quiet });
  user = await app.signIn();
});
after(async () => {
  await app.stop();
  await daemons.destroy();
});

type Script = (request: IncomingMessage, response: ServerResponse) => void;
const entry = { name: 'f', path: '~/f', type: 'file', size: 5, modifiedAt: '2026-01-01T00:00:00.000Z' };
const json = (response: ServerResponse, status: number, value: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** Correct facts about existing files, and the script for their bytes. */
function content(script: Script): void {
  daemons.onFiles = (request, response) =>
    request.url?.startsWith('/v1/files/stat') ? json(response, 200, { entry }) : script(request, response);
}

const download = (headers: Record<string, string> = {}) =>
  user.fetch('/api/workspace/download?path=f', { headers, signal: AbortSignal.timeout(300_000) });

const lies: Record<string, Script> = {
  'not JSON': (_, response) => response.end('<html>'),
  'other JSON': (_, response) => json(response, 200, { path: '~', type: 'directory', entries: [{ name: 1 }] }),
  'too many entries': (_, response) =>
    json(response, 200, { path: '~', type: 'directory', nextCursor: null, entries: Array(1001).fill(entry) }),
  'an endless answer': (_, response) => {
    const timer = setInterval(() => response.write('x'.repeat(1_000_000)), 1);
    response.on('close', () => clearInterval(timer));
  },
  'a redirect': (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  'an error of its own': (_, response) => json(response, 418, { error: { code: 'teapot', message: 'secret words' } }),
  'a code with another status': (_, response) =>
    json(response, 200, { error: { code: 'not_found', message: 'secret words' } }),
  'a refused token': (_, response) => json(response, 401, { error: { code: 'unauthorized', message: 'secret words' } }),
  'a broken connection': (request) => request.socket.destroy(),
  'huge headers': (_, response) => response.writeHead(200, { 'x-large': 'x'.repeat(64_000) }).end('{}'),
  'an answer that is not HTTP': (request) => request.socket.end('SSH-2.0-OpenSSH\r\n'),
  'a truncated answer': (request, response) => {
    response.writeHead(200, { 'content-length': 1000 }).write('{');
    setTimeout(() => request.socket.destroy(), 20);
  },
};

for (const [what, script] of Object.entries(lies)) {
  test(`answers workspace_request_failed for ${what}`, async () => {
    daemons.onFiles = script;
    const answers = [
      await user.call('GET /api/workspace/files'),
      await user.call('POST /api/workspace/folders', { path: 'x' }),
      await user.call('DELETE /api/workspace/files', undefined, { query: { path: 'x' } }),
      await upload(user, {}, { bytes: 'x' }, '/api/workspace/files'),
      await user.call('GET /api/workspace/download', undefined, { query: { path: 'x' } }),
    ];
    for (const { status, body, text, headers } of answers) {
      assert.deepEqual([status, body.error.code], [502, 'workspace_request_failed'], text);
      assert.ok(!text.includes('secret words') && headers.get('location') === null);
    }
  });
}

test("forwards only length, range, tag and date of a download's headers", async () => {
  content((_, response) => {
    response.writeHead(200, {
      'content-length': 5,
      'content-type': 'text/html',
      'content-disposition': 'inline',
      'set-cookie': 'a=b',
      etag: '"t"',
      'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
      location: '/x',
      'x-anything': 'y',
      'content-encoding': 'gzip',
      'access-control-allow-origin': '*',
      'content-security-policy': '',
    });
    response.end('hello');
  });
  const answer = await download();
  assert.equal(await answer.text(), 'hello');
  const seen = Object.fromEntries(answer.headers);
  assert.deepEqual(
    [seen.etag, seen['last-modified'], seen['content-length']],
    ['"t"', 'Thu, 01 Jan 2026 00:00:00 GMT', '5'],
  );
  assert.deepEqual(
    [seen['content-type'], seen['content-disposition']],
    ['application/octet-stream', 'attachment; filename="f"'],
  );
  for (const name of ['set-cookie', 'location', 'x-anything', 'content-encoding', 'access-control-allow-origin']) {
    assert.equal(seen[name], undefined, name);
  }
  assert.match(seen['content-security-policy'] ?? '', /sandbox/);
});

test('refuses a range that does not fit, or was not requested', async () => {
  const heads: [number, Record<string, string>][] = [
    [206, { 'content-length': '5', 'content-range': 'bytes 0-9/100' }],
    [206, { 'content-length': '5', 'content-range': 'bytes 0-4/3' }],
    [206, { 'content-length': '5', 'content-range': 'pages 1-2/3' }],
    [206, { 'content-length': '5' }],
    [416, { 'content-length': '0', 'content-range': 'bytes */x' }],
    [200, {}],
  ];
  for (const [status, headers] of heads) {
    content((_, response) => response.writeHead(status, headers).end(status === 416 ? '' : 'hello'));
    const answer = await download({ range: 'bytes=0-4' });
    assert.equal(answer.status, 502, JSON.stringify(headers));
    assert.equal(((await answer.json()) as Json).error.code, 'workspace_request_failed');
  }
  content((_, response) =>
    response.writeHead(206, { 'content-length': '5', 'content-range': 'bytes 0-4/9' }).end('hello'),
  );
  assert.equal((await download()).status, 502);
  content((_, response) => response.writeHead(304).end());
  assert.equal((await download()).status, 502);
});

test('a truncated body breaks the connection, and excess bytes are not forwarded', async () => {
  content((request, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 }).write('hello');
    setTimeout(() => request.socket.destroy(), 20);
  });
  await assert.rejects(
    async () => (await download()).arrayBuffer(),
    (error: Error) => error.name !== 'TimeoutError',
  );
  content((request) => {
    request.socket.write(
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil',
    );
  });
  assert.equal(await (await download()).text(), 'hello');
});

test('an upload ends when the daemon refuses in its middle, or disconnects, and its invalid paths are rejected', async () => {
  daemons.onFiles = (_, response) =>
    json(response, 507, { error: { code: 'storage_full', message: 'The disk is full' } });
  const full = await upload(user, {}, { bytes: Buffer.alloc(1_000_000) }, '/api/workspace/files');
  assert.deepEqual([full.status, full.body.error.code], [507, 'storage_full']);
  daemons.onFiles = (request) => void request.once('data', () => request.socket.destroy());
  const left = await upload(user, {}, { bytes: Buffer.alloc(1_000_000) }, '/api/workspace/files');
  assert.deepEqual([left.status, left.body.error.code], [502, 'workspace_request_failed']);
  daemons.onFiles = (request, response) =>
    void request.resume().on('end', () => json(response, 201, { entry: { ...entry, size: -1 } }));
  assert.equal((await upload(user, {}, { bytes: 'x' }, '/api/workspace/files')).status, 502);
});

test('a stop ends a transfer in its middle, and a disconnecting client ends the request to the daemon', async () => {
  let open = 0;
  content((_, response) => {
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    response.writeHead(200, { 'content-length': 1_000_000 }).write('hello');
  });
  const leaving = new AbortController();
  await user.fetch('/api/workspace/download?path=f', { signal: leaving.signal });
  await until('it is asked', () => open === 1);
  leaving.abort();
  await until('the daemon is let go', () => open === 0);
  const answer = await download();
  await until('it is asked', () => open === 1);
  await user.call('DELETE /api/workspace/status');
  await assert.rejects(answer.arrayBuffer());
  await until('the daemon is let go', () => open === 0);
});
