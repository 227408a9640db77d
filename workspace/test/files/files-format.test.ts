import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startFiles } from './files-harness.ts';

/** Writes of texts keep the format of a file: encoding, line ends, mode and links. */

let files: Awaited<ReturnType<typeof startFiles>>;
before(async () => {
  files = await startFiles();
});
after(() => files.stop());

const inHome = (...names: string[]) => join(files.home, ...names);
const bytes = (name: string) => readFileSync(inHome(name)).toString('latin1');
const put = (name: string, content: string) => writeFileSync(inHome(name), Buffer.from(content, 'latin1'));
const edit = (path: string, oldText: string, newText: string, all = false) =>
  files.call('/v1/files/edit', { json: { path, edits: [{ oldText, newText, all }] } });
const write = (path: string, text: string, reader?: string) =>
  files.call('/v1/files/text', { json: { path, text, reader } });
const utf16 = (text: string) => Buffer.from(text, 'utf16le').toString('latin1');

const edits: [name: string, before: string, oldText: string, newText: string, after: string][] = [
  ['Windows line ends', 'one\r\ntwo\r\nthree\r\n', 'one\ntwo\n', 'EINS\nzwei\n', 'EINS\r\nzwei\r\nthree\r\n'],
  ['a new line among Windows line ends', 'one\r\ntwo\r\n', 'two', 'zwei\ndrei', 'one\r\nzwei\r\ndrei\r\n'],
  ['mixed line ends', 'a\r\nb\nc\r\nd\n', 'a\nb', 'A\nB', 'A\r\nB\nc\r\nd\n'],
  ['the Unix lines of a mixed file', 'a\r\nb\nc\n', 'b\nc', 'B\nx\nC', 'a\r\nB\nx\nC\n'],
  ['a byte order mark', '\xef\xbb\xbfone\ntwo\n', 'one\ntwo', '1\n2', '\xef\xbb\xbf1\n2\n'],
  [
    'Latin letters',
    'gr\xfc\xdfe\nzwei\x80\n',
    'zwei',
    'drei \u00f6 \u201cx\u201d',
    'gr\xfc\xdfe\ndrei \xf6 \x93x\x94\x80\n',
  ],
  ['UTF-16', `\xff\xfe${utf16('ein Wort\r\n')}`, 'Wort', 'Satz\n2', `\xff\xfe${utf16('ein Satz\r\n2\r\n')}`],
  ['no line end at the end', 'a\r\nb', 'b', 'c', 'a\r\nc'],
];

for (const [name, before, oldText, newText, after] of edits) {
  test(`an edit keeps ${name}`, async () => {
    put('file.txt', before);
    assert.equal((await edit('file.txt', oldText, newText)).status, 200);
    assert.equal(bytes('file.txt'), after);
  });
}

test('replaces every place of a text that spans Windows line ends', async () => {
  put('many.txt', 'x\r\ny\r\n--\r\nx\r\ny\r\nx\r\ny\r\n');
  assert.match((await edit('many.txt', 'x\ny', 'z')).body.error.message, /3 times/);
  assert.equal((await edit('many.txt', 'x\ny\n', 'z\n', true)).body.replaced, 3);
  assert.equal(bytes('many.txt'), 'z\r\n--\r\nz\r\nz\r\n');
});

test('refuses a character that the encoding of a file lacks, and names it', async () => {
  put('latin.txt', 'gr\xfc\xdfe\n');
  const refused = await edit('latin.txt', 'e', '\u6f22');
  assert.match(refused.body.error.message, /windows-1252, which lacks \u6f22 \(U\+6F22\)/);
  assert.equal(bytes('latin.txt'), 'gr\xfc\xdfe\n');
});

test('a new text keeps mode, line ends, encoding and byte order mark of the file', async () => {
  put('run.bat', 'x\r\n');
  chmodSync(inHome('run.bat'), 0o755);
  assert.equal((await write('run.bat', 'a\nb\n')).status, 200);
  assert.deepEqual([bytes('run.bat'), statSync(inHome('run.bat')).mode & 0o777], ['a\r\nb\r\n', 0o755]);
  put('marked.csv', '\xef\xbb\xbfa;b\n');
  await write('marked.csv', '\ufeffc;d\n');
  assert.equal(bytes('marked.csv'), '\xef\xbb\xbfc;d\n');
  put('latin.txt', 'gr\xfc\xdfe\n');
  await write('latin.txt', 'gr\u00fcn\n');
  assert.equal(bytes('latin.txt'), 'gr\xfcn\n');
  put('data.bin', '\x00\x01\x02');
  await write('data.bin', 'text\n');
  assert.equal(bytes('data.bin'), 'text\n');
  await write('new/folder/file.txt', 'x\n');
  assert.equal(bytes('new/folder/file.txt'), 'x\n');
});

test('refuses to change a read-only file', async () => {
  put('fixed.txt', 'k');
  chmodSync(inHome('fixed.txt'), 0o444);
  assert.match((await write('fixed.txt', 'new')).body.error.message, /read-only/);
  assert.match((await edit('fixed.txt', 'k', 'n')).body.error.message, /read-only/);
  assert.equal(bytes('fixed.txt'), 'k');
});

test('writes through links that stay in the home, and through no others', async () => {
  mkdirSync(inHome('real/deep'), { recursive: true });
  put('real/deep/a.md', 'x');
  symlinkSync('real/deep/a.md', inHome('to-file'));
  symlinkSync('real/deep', inHome('to-folder'));
  symlinkSync('../../to-folder', inHome('real/deep/up'));
  symlinkSync(inHome('to-file'), inHome('to-link'));
  symlinkSync('real/made-later.md', inHome('dangling'));
  assert.equal((await edit('to-file', 'x', 'y')).status, 200);
  assert.equal(bytes('real/deep/a.md'), 'y');
  assert.equal((await write('to-link', 'z')).body.entry.path, '~/real/deep/a.md');
  assert.equal((await write('to-folder/up/b.md', 'b')).status, 200);
  assert.equal(bytes('real/deep/b.md'), 'b');
  assert.equal((await write('dangling', 'made')).status, 200);
  assert.equal(bytes('real/made-later.md'), 'made');
  for (const name of ['to-file', 'to-link', 'dangling']) assert.ok(lstatSync(inHome(name)).isSymbolicLink(), name);
  symlinkSync('/etc/passwd', inHome('outside'));
  symlinkSync('..', inHome('above'));
  symlinkSync('circle', inHome('circle'));
  for (const path of ['outside', 'above/x', 'to-folder/../../x', 'circle', 'circle/x']) {
    const { status, body } = await write(path, 'x');
    assert.deepEqual([status, body.error.code], [400, 'invalid_path'], path);
  }
});

test('refuses to overwrite a file that changed since the reader read it', async () => {
  const read = (reader: string) => files.call(`/v1/files/content?path=shared.txt&reader=${reader}`);
  put('shared.txt', 'one\n');
  await read('chat-1');
  assert.equal((await write('shared.txt', 'two\n', 'chat-1')).status, 200);
  assert.equal((await edit('shared.txt', 'two', 'three')).status, 200);
  const refused = await write('shared.txt', 'mine\n', 'chat-1');
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'path_taken']);
  assert.match(refused.body.error.message, /changed since you read it/);
  assert.equal(bytes('shared.txt'), 'three\n');
  assert.equal((await write('shared.txt', 'theirs\n', 'chat-2')).status, 200, 'another reader has read nothing');
  await read('chat-1');
  assert.equal((await write('shared.txt', 'mine\n', 'chat-1')).status, 200);
});

test('lists, reads, renames and deletes names that are not UTF-8 or in another normal form', async () => {
  mkdirSync(inHome('names'));
  const raw = Buffer.concat([Buffer.from(inHome('names/bad')), Buffer.from([0xff]), Buffer.from('.txt')]);
  writeFileSync(raw, 'raw');
  put('names/e\u0301.txt', 'decomposed');
  const list = async () => {
    const { body } = await files.call('/v1/files?path=names');
    return body.entries.map((entry: { name: string }) => entry.name);
  };
  assert.deepEqual(await list(), ['bad\ufffd.txt', 'e\u0301.txt']);
  const content = (path: string) => files.call(`/v1/files/content?path=${encodeURIComponent(path)}`);
  assert.equal((await content('names/bad\ufffd.txt')).bytes.toString(), 'raw');
  assert.equal((await content('names/\u00e9.txt')).bytes.toString(), 'decomposed');
  assert.equal((await edit('names/\u00e9.txt', 'decomposed', 'edited')).status, 200);
  assert.equal((await write('names/bad\ufffd.txt', 'written')).status, 200);
  assert.deepEqual(await list(), ['bad\ufffd.txt', 'e\u0301.txt'], 'no file of another name appears');
  const find = await files.call('/v1/files/find', { json: { path: 'names', glob: '*.txt' } });
  assert.equal(find.body.entries.length, 2);
  const move = { from: 'names/bad\ufffd.txt', to: 'names/good.txt' };
  assert.equal((await files.call('/v1/files/move', { json: move })).status, 200);
  assert.equal(bytes('names/good.txt'), 'written');
  const path = encodeURIComponent('names/\u00e9.txt');
  assert.equal((await files.call(`/v1/files?path=${path}`, { method: 'DELETE' })).status, 200);
  assert.deepEqual(await list(), ['good.txt']);
});
