import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { numbered } from '../../src/daemon/files/publish.ts';
import { at, openBelow, startFiles } from './files-harness.ts';

let files: Awaited<ReturnType<typeof startFiles>>;
before(async () => {
  files = await startFiles();
});
after(async () => {
  assert.deepEqual(files.faults, []);
  // A large removal continues after its response.
  await until(() => readdirSync(inHome('.workspace/tmp')).length === 0);
  await until(() => openBelow(files.base).length === 1);
  await files.stop();
});

const putAs = (path: string, mode: string) =>
  files.call(`/v1/files/content?path=${path}&mode=${mode}`, { method: 'PUT', body: '#!' });
const inHome = (...names: string[]) => join(files.home, ...names);
const text = (...names: string[]) => readFileSync(inHome(...names), 'utf8');

test('writes a body as a file with its parent folders; rejects, replaces or renames on a taken name', async () => {
  const first = await files.put('~/deep/er/report.txt', 'one');
  assert.equal(first.status, 201);
  const { modifiedAt, ...entry } = first.body.entry;
  assert.ok(Date.parse(modifiedAt) > 0);
  assert.deepEqual(entry, { name: 'report.txt', path: '~/deep/er/report.txt', type: 'file', size: 3 });
  assert.equal(statSync(inHome('deep/er/report.txt')).mode & 0o777, 0o644);
  assert.equal((await putAs('tool', '555')).status, 201);
  assert.equal(statSync(inHome('tool')).mode & 0o777, 0o555);
  assert.equal((await putAs('tool', '777')).status, 400);
  const taken = await files.put('deep/er/report.txt', 'two');
  assert.deepEqual([taken.status, taken.body.error.code], [409, 'path_taken']);
  assert.equal(text('deep/er/report.txt'), 'one');
  const beside = await files.put('deep/er/report.txt', 'two', 'rename');
  assert.equal(beside.body.entry.path, '~/deep/er/report (2).txt');
  assert.equal((await files.put('deep/er/report.txt', 'three', 'rename')).body.entry.name, 'report (3).txt');
  assert.equal((await files.put('deep/er/report.txt', 'four', 'replace')).status, 201);
  assert.equal(text('deep/er/report.txt'), 'four');
  assert.equal((await files.put('deep', 'x', 'replace')).status, 409);
  assert.equal((await files.put('deep/er/report.txt/below', 'x')).status, 409);
  assert.equal((await files.put('deep/new/', 'x')).status, 400);
  assert.equal((await files.put('~', 'x')).body.error.code, 'invalid_path');
  assert.ok(!existsSync(inHome('deep/new')));
});

test('keeps the extension and the length limit of numbered names', () => {
  assert.equal(numbered('a.tar.gz', 2), 'a (2).tar.gz');
  assert.equal(numbered('.bashrc', 2), '.bashrc (2)');
  assert.equal(numbered('plain', 12), 'plain (12)');
  const long = numbered(`${'ü'.repeat(126)}.x`, 2);
  assert.ok(Buffer.byteLength(long) <= 255 && long.endsWith(' (2).x'));
});

test('uploads, moves and deletes nothing through links', async () => {
  mkdirSync(inHome('real'));
  symlinkSync('real', inHome('alias'));
  writeFileSync(inHome('real/file'), 'kept');
  symlinkSync('real/file', inHome('file-alias'));
  for (const path of ['alias/new', 'alias/x/y', 'file-alias']) {
    for (const onConflict of ['fail', 'replace']) {
      const { status } = await files.put(path, 'x', onConflict);
      assert.ok(status === 400 || status === 409, path);
    }
  }
  assert.equal((await files.call('/v1/files/folder', { json: { path: 'alias/folder' } })).status, 400);
  assert.equal((await files.call('/v1/files/move', { json: { from: 'real/file', to: 'alias/f' } })).status, 400);
  assert.equal((await files.call(`/v1/files${at('alias/file')}`, { method: 'DELETE' })).status, 400);
  assert.deepEqual([readdirSync(inHome('real')), text('real/file')], [['file'], 'kept']);
  // The link itself can be deleted.
  assert.equal((await files.call(`/v1/files${at('alias')}`, { method: 'DELETE' })).status, 200);
  assert.equal(text('real/file'), 'kept');
});

test('leaves no file, folder or descriptor of a body that is cut off or of another size than announced', async () => {
  const path = '/v1/files/content?path=cut/off.bin';
  const short = await files.call(`${path}&size=10`, { method: 'PUT', body: Readable.from([Buffer.alloc(9)]) });
  assert.deepEqual([short.status, short.body.error.code], [400, 'invalid_request']);
  const long = await files.call(`${path}&size=10`, { method: 'PUT', body: Readable.from([Buffer.alloc(11)]) });
  assert.equal(long.status, 400);
  assert.equal((await files.call(`${path}&size=-1`, { method: 'PUT', body: 'x' })).status, 400);
  for (let round = 0; round < 50; round += 1) {
    const request = files.open(path, { method: 'PUT', headers: { 'content-length': 1_000_000 } });
    request.on('error', () => undefined);
    request.write(Buffer.alloc(100_000));
    await until(() => files.daemon.activity.snapshot().active.transfers === 1);
    request.destroy();
    await until(() => files.daemon.activity.snapshot().active.transfers === 0);
  }
  assert.ok(!existsSync(inHome('cut')));
  assert.deepEqual(readdirSync(inHome('.workspace/tmp')), []);
});

test('writes fifty concurrent uploads of one name as fifty files', async () => {
  const names = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const { body } = await files.put('crowd/same.txt', `content ${index}`, 'rename');
      return [body.entry.path, `content ${index}`];
    }),
  );
  assert.equal(new Set(names.map(([path]) => path)).size, 50);
  for (const [path = '', content] of names) assert.equal(text(path.slice(2)), content);
});

test('applies exact edits all or none, each to one match unless all is set, and keeps permissions', async () => {
  writeFileSync(inHome('code.js'), 'a = 1;\nb = 1;\nc = $&;\n');
  chmodSync(inHome('code.js'), 0o755);
  const edit = (edits: unknown) => files.call('/v1/files/edit', { json: { path: 'code.js', edits } });
  const done = await edit([
    { oldText: 'a = 1', newText: '$& $1' },
    { oldText: ';', newText: '', all: true },
  ]);
  assert.deepEqual([done.status, done.body.replaced], [200, 4]);
  assert.equal(text('code.js'), '$& $1\nb = 1\nc = $&\n');
  assert.equal(statSync(inHome('code.js')).mode & 0o777, 0o755);
  const twice = await edit([
    { oldText: 'b = 1', newText: 'gone' },
    { oldText: '$&', newText: 'x' },
  ]);
  assert.match(twice.body.error.message, /^Edit 2: .* 2 times/);
  assert.match((await edit([{ oldText: 'absent', newText: '' }])).body.error.message, /^Edit 1: /);
  assert.equal(text('code.js'), '$& $1\nb = 1\nc = $&\n');
  for (const edits of [[], [{}], 'x', [{ oldText: '', newText: 'x' }], [null]])
    assert.equal((await edit(edits)).status, 400);
  writeFileSync(inHome('binary'), Buffer.from([255, 254, 0]));
  const binary = { path: 'binary', edits: [{ oldText: 'a', newText: 'b' }] };
  assert.equal((await files.call('/v1/files/edit', { json: binary })).status, 400);
});

test('moves and renames files, folders and links without overwriting', async () => {
  mkdirSync(inHome('from/inner'), { recursive: true });
  writeFileSync(inHome('from/inner/file'), 'moved');
  writeFileSync(inHome('from/other'), 'other');
  symlinkSync('/etc/passwd', inHome('from/link'));
  const move = (from: string, to: string, onConflict?: string) =>
    files.call('/v1/files/move', { json: { from, to, onConflict } });
  assert.equal((await move('from/inner', 'to/there/inner')).body.entry.path, '~/to/there/inner');
  assert.equal(text('to/there/inner/file'), 'moved');
  assert.equal((await move('from/link', 'to/link')).body.entry.type, 'symlink');
  assert.equal((await move('from/other', 'to/there/inner/file')).status, 409);
  assert.equal((await move('from/other', 'to/there')).status, 409);
  assert.equal((await move('to/there', 'from')).status, 409);
  assert.equal((await move('to', 'to/there/below')).body.error.code, 'invalid_path');
  assert.equal((await move('from/other', 'from/other')).status, 409);
  assert.equal((await move('nothing', 'x')).status, 404);
  assert.equal((await move('~', 'x')).status, 400);
  assert.equal((await move('from/other', 'to/there/inner/file', 'rename')).body.entry.name, 'file (2)');
  assert.equal((await move('to/there/inner/file (2)', 'to/there/inner/file', 'replace')).status, 200);
  assert.deepEqual([text('to/there/inner/file'), readdirSync(inHome('to/there/inner'))], ['other', ['file']]);
  assert.ok(lstatSync(inHome('to/link')).isSymbolicLink());
});

test('creates folders with their parents, accepts existing ones and rejects a file’s path', async () => {
  const make = (path: string) => files.call('/v1/files/folder', { json: { path } });
  assert.equal((await make('new/folder/')).body.entry.type, 'directory');
  assert.equal((await make('new/folder')).status, 201);
  writeFileSync(inHome('new/file'), '');
  assert.equal((await make('new/file')).status, 409);
  assert.equal((await make('new/file/below')).status, 409);
  assert.equal((await make(`${'d/'.repeat(600)}x`)).body.error.code, 'invalid_path');
});

test('deletes files, links and folders with deep, odd or unreadable content', async () => {
  const outside = join(files.base, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'f'), 'kept');
  mkdirSync(inHome('tree/ro'), { recursive: true });
  symlinkSync(outside, inHome('tree/link'));
  symlinkSync(join(outside, 'f'), inHome('tree/link-to-file'));
  writeFileSync(inHome('tree/ro/file'), 'x');
  execFileSync('mkfifo', [inHome('tree/fifo')]);
  execFileSync('bash', ['-c', "touch $'bad\\xff\\n'; mkdir $'dir\\xfe'; touch $'dir\\xfe/x'"], { cwd: inHome('tree') });
  // Deeper than the longest path of the file system.
  execFileSync('perl', ['-e', 'for (1..3000) { mkdir "deep-folder"; chdir "deep-folder" or die }'], {
    cwd: inHome('tree'),
  });
  chmodSync(inHome('tree/ro'), 0o555);
  const remove = (path: string) => files.call(`/v1/files${at(path)}`, { method: 'DELETE' });
  assert.equal((await remove('tree/ro/file/')).status, 404);
  assert.deepEqual((await remove('tree')).body, { ok: true });
  assert.ok(!existsSync(inHome('tree')));
  assert.equal(readFileSync(join(outside, 'f'), 'utf8'), 'kept');
  assert.equal((await remove('tree')).status, 404);
  for (const path of ['~', '.', '/', '.workspace', '.workspace/tmp'])
    assert.equal((await remove(path)).status, 400, path);
  await files.put('single', 'x');
  assert.equal((await remove('single')).status, 200);
});

test('answers storage_full on a full disk and leaves nothing behind', async (context) => {
  const disk = inHome('small-disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', disk], { stdio: 'ignore' });
  } catch {
    return context.skip('a small disk cannot be mounted here');
  }
  const small = await startFiles();
  try {
    // Another file system below the home counts as outside.
    assert.equal((await files.put('small-disk/x', 'x')).body.error.code, 'invalid_path');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', small.home]);
    const { status, body } = await small.put('large', Buffer.alloc(2_000_000));
    assert.deepEqual([status, body.error.code], [507, 'storage_full']);
    assert.deepEqual(readdirSync(join(small.home, '.workspace/tmp')), []);
    assert.equal((await small.put('small', 'x')).status, 201);
  } finally {
    execFileSync('umount', ['-l', disk]);
    execFileSync('umount', ['-l', small.home]);
    await small.stop();
  }
});
