import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { at, openBelow, startFiles } from './files-harness.ts';

let files: Awaited<ReturnType<typeof startFiles>>;
before(async () => {
  files = await startFiles();
});
after(async () => {
  assert.deepEqual(files.faults, []);
  // The home itself stays open.
  await until(() => openBelow(files.base).length === 1);
  await files.stop();
});

const inHome = (...names: string[]) => join(files.home, ...names);

test('lists folders first, then by name, shows links as links and omits special files', async () => {
  mkdirSync(inHome('list/b-folder'), { recursive: true });
  mkdirSync(inHome('list/Z'));
  for (const name of ['a.txt', 'C.txt', 'b.txt', '..hidden', 'line\nbreak']) writeFileSync(inHome('list', name), 'x');
  symlinkSync('/etc/passwd', inHome('list/link'));
  execFileSync('mkfifo', [inHome('list/fifo')]);
  const { status, body } = await files.call(`/v1/files${at('~/list')}`);
  assert.equal(status, 200);
  assert.deepEqual(
    { ...body, entries: undefined },
    { path: '~/list', type: 'directory', entries: undefined, nextCursor: null },
  );
  const names = body.entries.map((entry: { name: string; type: string }) => `${entry.type} ${entry.name}`);
  assert.deepEqual(names, [
    ...['directory b-folder', 'directory Z', 'file ..hidden', 'file a.txt', 'file b.txt', 'file C.txt'],
    ...['file line\nbreak', 'symlink link'],
  ]);
  assert.equal(body.entries[3].path, '~/list/a.txt');
  assert.equal(body.entries[3].size, 1);
});

test('lists each name once over all pages, even while names are added and removed', async () => {
  mkdirSync(inHome('many'));
  for (let index = 0; index < 2500; index += 1) writeFileSync(inHome('many', `${index % 7}-${index}`), '');
  const seen: string[] = [];
  let cursor = '';
  let pages = 0;
  do {
    const { body } = await files.call(`/v1/files${at('many')}&limit=400${cursor}`);
    seen.push(...body.entries.map((entry: { name: string }) => entry.name));
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
    pages += 1;
    writeFileSync(inHome('many', `0-new-${pages}`), '');
  } while (cursor !== '');
  assert.equal(pages, 7);
  assert.equal(new Set(seen).size, seen.length);
  assert.equal(seen.filter((name) => !name.includes('new')).length, 2500);
  for (const odd of ['limit=0', 'limit=1001', 'limit=x', 'cursor=x', `cursor=${'A'.repeat(3000)}`]) {
    assert.equal((await files.call(`/v1/files${at('many')}&${odd}`)).status, 400, odd);
  }
});

test('previews text cut between characters, pictures as base64, and no other bytes', async () => {
  writeFileSync(inHome('notes.md'), '# Grüße');
  const { body } = await files.call(`/v1/files${at('notes.md')}`);
  assert.deepEqual(
    { ...body, modifiedAt: typeof body.modifiedAt },
    {
      path: '~/notes.md',
      type: 'file',
      size: 9,
      mediaType: 'text/markdown',
      modifiedAt: 'string',
      encoding: 'utf-8',
      content: '# Grüße',
      truncated: false,
    },
  );
  writeFileSync(inHome('long'), `x${'ü'.repeat(200_000)}`);
  const long = (await files.call(`/v1/files${at('long')}`)).body;
  assert.equal(long.truncated, true);
  assert.equal(Buffer.byteLength(long.content), 256 * 1024 - 1);
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)]);
  writeFileSync(inHome('picture.txt'), png);
  const picture = (await files.call(`/v1/files${at('picture.txt')}`)).body;
  assert.equal(picture.mediaType, 'image/png');
  assert.deepEqual([picture.encoding, picture.content], ['base64', png.toString('base64')]);
  writeFileSync(inHome('bytes.json'), Buffer.from([0, 255, 1]));
  const bytes = (await files.call(`/v1/files${at('bytes.json')}`)).body;
  assert.deepEqual([bytes.encoding, bytes.content, bytes.mediaType], ['none', '', 'application/octet-stream']);
});

test('serves content whole, by range, conditionally and for HEAD', async () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
  writeFileSync(inHome('data.bin'), bytes);
  const path = `/v1/files/content${at('~/data.bin')}`;
  const whole = await files.call(path);
  assert.equal(whole.status, 200);
  assert.ok(whole.bytes.equals(bytes));
  const { etag = '' } = whole.headers;
  assert.match(etag, /^"[a-z0-9-]+"$/);
  assert.equal(whole.headers['accept-ranges'], 'bytes');
  const head = await files.call(path, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-length'], head.bytes.length], [200, '100000', 0]);
  const ranges: [string, number, number, number][] = [
    ...([
      ['bytes=0-0', 206, 0, 1],
      ['bytes=10-19', 206, 10, 20],
      ['bytes=99999-', 206, 99_999, 100_000],
    ] as const),
    ...([
      ['bytes=-5', 206, 99_995, 100_000],
      ['bytes=-200000', 206, 0, 100_000],
      ['bytes=5-200000', 206, 5, 100_000],
    ] as const),
    ...([
      ['bytes=0-1,3-4', 200, 0, 100_000],
      ['lines=0-1', 200, 0, 100_000],
      ['bytes=9-5', 200, 0, 100_000],
    ] as const),
  ].map(([range, status, start, end]) => [range, status, start, end]);
  for (const [range, status, start, end] of ranges) {
    const part = await files.call(path, { headers: { range } });
    assert.equal(part.status, status, range);
    assert.ok(part.bytes.equals(bytes.subarray(start, end)), range);
    if (status === 206) assert.equal(part.headers['content-range'], `bytes ${start}-${end - 1}/100000`);
  }
  for (const range of ['bytes=100000-', 'bytes=-0']) {
    const none = await files.call(path, { headers: { range } });
    assert.equal(none.status, 416);
    assert.equal(none.headers['content-range'], 'bytes */100000');
    assert.equal(none.body.error.code, 'range_not_satisfiable');
  }
  assert.equal((await files.call(path, { headers: { 'if-none-match': `W/${etag}` } })).status, 304);
  assert.equal((await files.call(path, { headers: { range: 'bytes=0-0', 'if-range': etag } })).status, 206);
  utimesSync(inHome('data.bin'), 1, 2);
  assert.equal((await files.call(path, { headers: { range: 'bytes=0-0', 'if-range': etag } })).status, 200);
  assert.equal((await files.call(path, { headers: { 'if-none-match': etag } })).status, 200);
  writeFileSync(inHome('empty'), '');
  assert.equal((await files.call(`/v1/files/content${at('empty')}`)).headers['content-length'], '0');
});

test('breaks the connection if a file shrinks while it is sent, and frees its descriptor if the reader disconnects', async () => {
  writeFileSync(inHome('large'), Buffer.alloc(64 * 1024 * 1024));
  for (const leave of [false, true]) {
    const request = files.open(`/v1/files/content${at('large')}`);
    const ended = await new Promise<string>((resolve) => {
      request.on('error', () => resolve('error'));
      request.on('response', (incoming) => {
        incoming.once('data', () => {
          if (leave) request.destroy();
          else truncateSync(inHome('large'), 1000);
        });
        incoming.on('error', () => resolve('broken'));
        incoming.on('end', () => resolve('whole'));
        incoming.on('close', () => resolve('closed'));
      });
      request.end();
    });
    assert.notEqual(ended, 'whole');
    await until(() => files.daemon.activity.snapshot().active.transfers === 0);
    writeFileSync(inHome('large'), Buffer.alloc(64 * 1024 * 1024));
  }
});

test('rejects an unknown endpoint, an unknown method and a missing path', async () => {
  assert.equal((await files.call('/v1/files/nothing')).status, 404);
  const wrong = await files.call('/v1/files/stat?path=x', { method: 'POST' });
  assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'GET']);
  assert.equal((await files.call('/v1/files/stat')).status, 400);
  assert.equal((await files.call('/v1/files/stat?path=%ff')).status, 400);
  assert.equal((await files.call('/v1/files/__proto__')).status, 404);
});
