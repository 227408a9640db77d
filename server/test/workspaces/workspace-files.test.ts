import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { lacks } from '../../../contracts/test/programs.ts';
import { until } from '../../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { formBody, sendForm, upload } from '../artifacts/artifact-makers.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';
import { quiet } from './workspace-makers.ts';

/** Files of a workspace through the service, on a real daemon. */

let app: TestApp;
let runtime: ProcessRuntime;
let user: SignedIn;
let home: string;
before(async () => {
  runtime = new ProcessRuntime();
  app = await startTestApp({ workspaceRuntime: runtime, workspaceTimings: quiet });
  user = await app.signIn();
  home = await runtime.homeOf(user.id);
  assert.equal((await user.call('GET /api/workspace/files')).status, 200, 'asking for files starts the workspace');
});
after(async () => {
  await app.stop();
  await runtime.destroy();
});

const route = '/api/workspace/files';
const get = (path: string, query: Record<string, string> = {}) =>
  user.call('GET /api/workspace/files', undefined, { query: { path, ...query } });
const download = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  user.fetch(`/api/workspace/download?path=${encodeURIComponent(path)}`, { headers, method });
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

test('lists the home by default, in pages, and shows a file', async () => {
  mkdirSync(join(home, 'folder'), { recursive: true });
  writeFileSync(join(home, 'notes.md'), 'Grüße');
  const { body } = await user.call('GET /api/workspace/files', undefined, { query: { limit: '1' } });
  assert.deepEqual([body.path, body.type, body.entries.length], ['~', 'directory', 1]);
  const next = await user.call('GET /api/workspace/files', undefined, {
    query: { limit: '1', cursor: body.nextCursor },
  });
  assert.notDeepEqual(next.body.entries, body.entries);
  const { body: file } = await get('~/notes.md');
  const { modifiedAt, ...shown } = file;
  assert.ok(Date.parse(modifiedAt) > 0);
  const facts = { path: '~/notes.md', type: 'file', size: 7, mediaType: 'text/markdown' };
  assert.deepEqual(shown, { ...facts, encoding: 'utf-8', content: 'Grüße', truncated: false });
  assert.equal((await get(join(home, 'notes.md'))).status, 200);
});

test('rejects an invalid cursor like any invalid request', async () => {
  for (const cursor of ['x', 'eA', '!', 'a'.repeat(2048)]) {
    const { status, body } = await get('~', { cursor });
    assert.deepEqual([status, body.error.code], [400, 'invalid_request'], cursor);
    assert.deepEqual(Object.keys(body.error.details[0]), ['path', 'message']);
  }
});

test('a path outside the home is invalid_path and never echoed, and a missing one is not_found', async () => {
  symlinkSync('/etc', join(home, 'etc'));
  for (const path of ['/etc/passwd', '../x', '~/../x', 'etc/passwd', '~root', '/proc/self/environ']) {
    for (const answer of [
      await get(path),
      await user.call('POST /api/workspace/folders', { path }),
      await user.call('PATCH /api/workspace/files', { from: path, to: 'x' }),
      await user.call('PATCH /api/workspace/files', { from: 'notes.md', to: path }),
      await user.call('GET /api/workspace/download', undefined, { query: { path } }),
    ]) {
      if (answer.status === 404) continue;
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_path'], path);
      assert.ok(!answer.text.includes('passwd') && !answer.text.includes('../'));
    }
  }
  assert.equal((await get('~/absent')).body.error.code, 'not_found');
  assert.equal((await user.call('DELETE /api/workspace/files', undefined, { query: { path: '~' } })).status, 400);
  assert.equal((await get('x'.repeat(5000))).status, 400);
});

test('uploads to ~/artifacts by default, numbers taken names, and accepts the path after the file', async () => {
  const first = await upload(user, {}, { name: 'C:\\folder\\report.txt', bytes: 'one' }, route);
  assert.equal(first.status, 201, first.text);
  assert.deepEqual([first.body.file.path, first.body.file.size], ['~/artifacts/report.txt', 3]);
  assert.equal((await upload(user, {}, { name: 'report.txt', bytes: 'two' }, route)).body.file.name, 'report (2).txt');
  const placed = await upload(user, { path: '~/deep/er/x.bin' }, { bytes: Buffer.alloc(1_000_000, 7) }, route);
  assert.equal(placed.body.file.path, '~/deep/er/x.bin');
  assert.ok(readFileSync(join(home, 'deep/er/x.bin')).equals(Buffer.alloc(1_000_000, 7)));
  const file = { name: 'file', value: 'late', filename: 'late.txt' };
  const late = await sendForm(user, [file, { name: 'path', value: '~/late/there.txt' }], route);
  assert.equal(late.body.file.path, '~/late/there.txt');
  const wrong = await sendForm(user, [file, { name: 'path', value: '/etc/there.txt' }], route);
  assert.equal(wrong.body.error.code, 'invalid_path');
  const odd = await sendForm(user, [file, { name: 'path', value: '~/a' }, { name: 'path', value: '~/b' }], route);
  assert.equal(odd.status, 400);
  assert.deepEqual(readdirSync(join(home, 'artifacts')).sort(), ['report (2).txt', 'report.txt']);
});

test('reports the refusal of a path before the file has arrived with its own code', async () => {
  const file = { name: 'file', value: Buffer.alloc(900_000), filename: 'x.bin' };
  const { body, contentType } = formBody([{ name: 'path', value: '/etc/there.txt' }, file]);
  const fields = body.indexOf('name="file"');
  for (let round = 0; round < 20; round += 1) {
    const parts = async function* () {
      yield body.subarray(0, fields);
      await new Promise((resolve) => setTimeout(resolve, 5));
      yield body.subarray(fields);
    };
    const init = { method: 'POST', body: ReadableStream.from(parts()), duplex: 'half', headers: {} } as RequestInit;
    const response = await user.fetch(route, { ...init, headers: { 'content-type': contentType } });
    const answer = (await response.json()) as Json;
    assert.deepEqual([response.status, answer.error.code], [400, 'invalid_path'], `round ${round}`);
  }
});

test("a path before the file is the target, whatever the file's own name", async () => {
  for (const filename of ['..', '', undefined]) {
    const file = { name: 'file', value: 'named', ...(filename === undefined ? {} : { filename }) };
    const { status, body } = await sendForm(user, [{ name: 'path', value: '~/named/it.txt' }, file], route);
    assert.deepEqual([status, body.file?.size], [201, 5], JSON.stringify(body));
    assert.match(body.file.path, /^~\/named\/it( \(\d\))?\.txt$/);
  }
  const folder = await upload(user, { path: '~/named/' }, { bytes: 'x' }, route);
  assert.deepEqual([folder.status, folder.body.error.code], [400, 'invalid_path']);
});

test('file names of forms are only a suggestion', async () => {
  const names = [
    '/etc/evil',
    '..\\..\\evil.txt',
    'a/b.txt',
    '.',
    '..',
    'x%22.txt',
    '\u202etxt.exe',
    'evil\u0000.txt',
    '',
  ];
  for (const name of names) {
    const { status, body, text } = await upload(user, {}, { name, bytes: 'x' }, route);
    assert.ok(status === 400 || status === 201, text);
    if (status === 201) assert.match(body.file.path, /^~\/artifacts\/[^/\\\u202e]+$/);
  }
  assert.ok(!existsSync('/etc/evil'));
});

test('an upload that is too large or interrupted leaves nothing', async () => {
  const large = await upload(user, { path: '~/large.bin' }, { bytes: Buffer.alloc(1024 * 1024 + 1) }, route);
  assert.deepEqual([large.status, large.body.error.code], [413, 'payload_too_large']);
  const { body, contentType } = formBody([
    { name: 'path', value: '~/cut.bin' },
    { name: 'file', value: Buffer.alloc(500_000), filename: 'cut.bin' },
  ]);
  for (let round = 0; round < 5; round += 1) {
    const outgoing = request(`${app.url}${route}`, {
      method: 'POST',
      agent: false,
      headers: { cookie: user.cookie ?? '', 'content-type': contentType, 'content-length': body.length },
    });
    outgoing.on('error', () => undefined);
    outgoing.write(body.subarray(0, 300_000));
    await until('bytes have arrived', () => readdirSync(join(home, '.workspace/tmp')).length === 1);
    outgoing.destroy();
    await until('nothing is left', () => readdirSync(join(home, '.workspace/tmp')).length === 0);
  }
  assert.ok(!existsSync(join(home, 'large.bin')) && !existsSync(join(home, 'cut.bin')));
});

test('makes folders, moves and deletes entries, and overwrites nothing', async () => {
  const made = await user.call('POST /api/workspace/folders', { path: '~/new/inner' });
  assert.deepEqual([made.status, made.body.file.type], [201, 'directory']);
  writeFileSync(join(home, 'new/a'), 'a');
  writeFileSync(join(home, 'new/b'), 'b');
  const taken = await user.call('PATCH /api/workspace/files', { from: '~/new/a', to: '~/new/b' });
  assert.deepEqual([taken.status, taken.body.error.code], [409, 'path_taken']);
  const moved = await user.call('PATCH /api/workspace/files', { from: '~/new', to: '~/moved/new' });
  assert.equal(moved.body.file.path, '~/moved/new');
  const removed = await user.call('DELETE /api/workspace/files', undefined, { query: { path: '~/moved' } });
  assert.deepEqual([removed.status, removed.body], [200, { ok: true }]);
  assert.ok(!existsSync(join(home, 'moved')));
});

test('downloads in full, in ranges, with conditions and by HEAD, with headers that prevent execution', async () => {
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 253));
  writeFileSync(join(home, 'Übung "1".html'), content);
  const whole = await download('~/Übung "1".html');
  assert.equal(whole.status, 200);
  assert.ok((await bytesOf(whole)).equals(content));
  assert.equal(whole.headers.get('content-type'), 'application/octet-stream');
  assert.match(
    whole.headers.get('content-disposition') ?? '',
    /^attachment; filename="Ubung _1_\.html"; filename\*=UTF-8''/,
  );
  assert.equal(whole.headers.get('x-content-type-options'), 'nosniff');
  assert.match(whole.headers.get('content-security-policy') ?? '', /sandbox/);
  assert.equal(whole.headers.get('cache-control'), 'no-store');
  const etag = whole.headers.get('etag') ?? '';
  const part = await download('~/Übung "1".html', { range: 'bytes=10-19' });
  assert.deepEqual([part.status, part.headers.get('content-range')], [206, 'bytes 10-19/300000']);
  assert.ok((await bytesOf(part)).equals(content.subarray(10, 20)));
  const beyond = await download('~/Übung "1".html', { range: 'bytes=300000-' });
  assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */300000']);
  assert.equal((await download('~/Übung "1".html', { 'if-none-match': etag })).status, 304);
  assert.equal((await download('~/Übung "1".html', { range: 'bytes=0-0', 'if-range': '"other"' })).status, 200);
  const head = await download('~/Übung "1".html', {}, 'HEAD');
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '300000']);
  assert.equal((await download('~/absent')).status, 404);
});

test('downloads a folder as .zip that other programs unpack, without links', { skip: lacks('python3') }, async () => {
  mkdirSync(join(home, 'pack/sub/empty'), { recursive: true });
  const files: Record<string, Buffer> = {
    'a.txt': Buffer.from('a'),
    'sub/ü.bin': Buffer.alloc(3_000_000, 'xy'),
    'sub/none': Buffer.alloc(0),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, 'pack', name), content);
  symlinkSync('/etc/passwd', join(home, 'pack/link'));
  const answer = await download('~/pack');
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/zip']);
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="pack.zip"');
  const scratch = mkdtempSync(join(tmpdir(), 'hp-zip-'));
  try {
    writeFileSync(join(scratch, 'pack.zip'), await bytesOf(answer));
    const script =
      'import sys,zipfile;z=zipfile.ZipFile(sys.argv[1]);assert z.testzip() is None;z.extractall(sys.argv[2])';
    execFileSync('python3', ['-c', script, join(scratch, 'pack.zip'), scratch]);
    for (const [name, content] of Object.entries(files)) {
      assert.ok(readFileSync(join(scratch, 'pack', name)).equals(content), name);
    }
    assert.deepEqual(readdirSync(join(scratch, 'pack')).sort(), ['a.txt', 'sub']);
    assert.deepEqual(readdirSync(join(scratch, 'pack/sub/empty')), []);
  } finally {
    rmSync(scratch, { recursive: true });
  }
});

test("no user sees another's files, and without workspaces there are none", async () => {
  const other = await app.signIn();
  assert.equal(
    (await other.call('GET /api/workspace/files', undefined, { query: { path: '~/notes.md' } })).status,
    404,
  );
  const plain = await startTestApp({ database: app.database });
  const somebody = await plain.signIn();
  assert.equal((await somebody.call('GET /api/workspace/files')).body.error.code, 'workspace_disabled');
  await plain.stop();
});

test('a client that disconnects in the middle of a download releases the daemon', async () => {
  writeFileSync(join(home, 'large'), Buffer.alloc(32 * 1024 * 1024));
  for (let round = 0; round < 5; round += 1) {
    await new Promise<void>((resolve) => {
      const outgoing = request(`${app.url}/api/workspace/download?path=large`, {
        headers: { cookie: user.cookie ?? '' },
        agent: false,
      });
      outgoing.on('response', (incoming) =>
        incoming.once('data', () => outgoing.destroy()).on('error', () => undefined),
      );
      outgoing.on('close', resolve).on('error', () => undefined);
      outgoing.end();
    });
  }
  const pid = runtime.pidOf(user.id);
  const open = () =>
    readdirSync(`/proc/${pid}/fd`).filter((name) => linkOf(`/proc/${pid}/fd/${name}`).endsWith('/large'));
  await until('no descriptor is left', () => open().length === 0);
  const head = await download('~/large', {}, 'HEAD');
  assert.equal(head.status, 200, JSON.stringify([...head.headers]));
});

test('reports a daemon killed in the middle of an upload to the client, and the next one removes the remains', async () => {
  const { body, contentType } = formBody([
    { name: 'path', value: '~/killed.bin' },
    { name: 'file', value: Buffer.alloc(500_000), filename: 'killed.bin' },
  ]);
  const outgoing = request(`${app.url}${route}`, {
    method: 'POST',
    agent: false,
    headers: { cookie: user.cookie ?? '', 'content-type': contentType, 'content-length': body.length },
  });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    outgoing.on('response', (incoming) => resolve(incoming.resume().statusCode)).on('error', reject);
  });
  outgoing.write(body.subarray(0, 300_000));
  await until('bytes have arrived', () => readdirSync(join(home, '.workspace/tmp')).length === 1);
  process.kill(runtime.pidOf(user.id) ?? 0, 'SIGKILL');
  assert.equal(await answered, 502);
  outgoing.destroy();
  assert.equal(readdirSync(join(home, '.workspace/tmp')).length, 1);
  await user.call('DELETE /api/workspace/status');
  assert.equal((await get('~')).status, 200);
  await until('it is removed', () => readdirSync(join(home, '.workspace/tmp')).length === 0);
  assert.ok(!existsSync(join(home, 'killed.bin')));
});

function linkOf(path: string): string {
  try {
    return execFileSync('readlink', [path], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}
