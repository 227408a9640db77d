import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { lacks } from '../../../contracts/test/programs.ts';
import { until } from '../../../contracts/test/until.ts';
import { compileGlob } from '../../src/daemon/file-system/glob.ts';
import { safeName } from '../../src/daemon/files/archive.ts';
import { type GrepLine, runGrep } from '../../src/daemon/files/grep.ts';
import { writeZip, type ZipEntry } from '../../src/daemon/files/zip.ts';
import { at, openBelow, startFiles } from './files-harness.ts';

let files: Awaited<ReturnType<typeof startFiles>>;
before(async () => {
  files = await startFiles();
  mkdirSync(inHome('src/deep'), { recursive: true });
  mkdirSync(join(files.base, 'outside'));
  writeFileSync(join(files.base, 'outside/x.ts'), 'needle outside');
  writeFileSync(inHome('src/a.ts'), 'first\nneedle one\nneedle two\n');
  writeFileSync(inHome('src/deep/b.ts'), `needle ${'x'.repeat(100_000)}\n`);
  writeFileSync(inHome('src/deep/c: odd\nname.md'), 'a needle: here\n');
  writeFileSync(inHome('src/binary'), Buffer.from('needle\0'));
  mkdirSync(inHome('digits'));
  writeFileSync(inHome('digits/text'), 'number\nnum42\n');
  writeFileSync(inHome('digits/half-binary'), `num1\n${'x'.repeat(200_000)}\0`);
  symlinkSync(join(files.base, 'outside'), inHome('src/out'));
  symlinkSync('a.ts', inHome('src/link.ts'));
  execFileSync('mkfifo', [inHome('src/fifo')]);
});
after(async () => {
  assert.deepEqual(files.faults, []);
  await until(() => openBelow(files.base).length === 1);
  await files.stop();
});

const inHome = (...names: string[]) => join(files.home, ...names);
const search = (json: object) => files.call('/v1/files/search', { json });
const find = async (json: object) => {
  const { body } = await files.call('/v1/files/find', { json });
  return {
    paths: body.entries?.map((entry: { path: string }) => entry.path),
    truncated: body.truncated,
    error: body.error,
  };
};

test('matches globs', () => {
  const cases: [string, string, boolean][] = [
    ...([
      ['*.ts', 'a/b/c.ts', true],
      ['*.ts', 'c.tsx', false],
      ['src/*.ts', 'src/a.ts', true],
      ['src/*.ts', 'src/d/a.ts', false],
    ] as const),
    ...([
      ['src/**/*.ts', 'src/a.ts', true],
      ['src/**/*.ts', 'src/d/e/a.ts', true],
      ['**/d/**', 'a/d/b', true],
      ['src/**', 'other/a', false],
    ] as const),
    ...([
      ['?.{md,ts}', 'a.md', true],
      ['?.{md,ts}', 'ab.md', false],
      ['[a-c]x', 'bx', true],
      ['[!a-c]x', 'bx', false],
    ] as const),
    ...([
      ['{a,b', '{a,b', true],
      ['a\\*', 'a*', true],
      ['a\\*', 'ab', false],
      ['ü?', 'üö', true],
      ['[', '[', true],
    ] as const),
  ].map(([pattern, path, fits]) => [pattern, path, fits]);
  for (const [pattern, path, fits] of cases)
    assert.equal(compileGlob(pattern)(path.split('/')), fits, `${pattern} ${path}`);
  // Classic matchers take forever on these.
  assert.equal(compileGlob(`${'*a'.repeat(100)}b`)(['a'.repeat(255)]), false);
  assert.equal(compileGlob(`${'**/a/'.repeat(60)}b`)(Array(64).fill('a')), false);
  assert.throws(() => compileGlob('{a,b}'.repeat(20)));
  assert.throws(() => compileGlob('x'.repeat(1000)));
});

test('finds entries by glob, lists links without following them, and truncates at the limit', async () => {
  const typed = await find({ path: 'src', glob: '*.ts' });
  assert.deepEqual(typed, {
    paths: ['~/src/a.ts', '~/src/deep/b.ts', '~/src/link.ts'],
    truncated: false,
    error: undefined,
  });
  const all = await find({ path: '~/src' });
  assert.ok(all.paths.includes('~/src/out') && !all.paths.some((path: string) => path.startsWith('~/src/out/')));
  assert.ok(!all.paths.includes('~/src/fifo'));
  assert.deepEqual([(await find({ limit: 2 })).paths.length, (await find({ limit: 2 })).truncated], [2, true]);
  assert.equal((await find({ path: 'src/a.ts' })).error.code, 'invalid_request');
  assert.equal((await find({ path: 'src/out' })).error.code, 'invalid_path');
});

test('searches a folder or a file for lines with numbers, cuts long lines, and skips links and binaries', async () => {
  const { body } = await search({ pattern: 'need(le)+' });
  const found = body.matches.map(({ path, line }: { path: string; line: number }) => `${path}:${line}`).sort();
  assert.deepEqual(found, ['~/src/a.ts:2', '~/src/a.ts:3', '~/src/deep/b.ts:1', '~/src/deep/c: odd\nname.md:1']);
  assert.equal(body.matches.find(({ path }: { path: string }) => path.endsWith('b.ts')).text.length, 500);
  assert.equal(body.matches.find(({ path }: { path: string }) => path.endsWith('.md')).text, 'a needle: here');
  assert.deepEqual((await search({ pattern: 'needle', path: 'src/link.ts', limit: 1 })).body, {
    matches: [{ path: '~/src/link.ts', line: 2, text: 'needle one' }],
    truncated: true,
  });
  const typed = await search({ pattern: 'needle', glob: '**/deep/*.ts' });
  assert.deepEqual(
    typed.body.matches.map(({ path }: { path: string }) => path),
    ['~/src/deep/b.ts'],
  );
  assert.deepEqual((await search({ pattern: 'nowhere' })).body, { matches: [], truncated: false });
  for (const pattern of ['(', '[', 'a{2,1}', '']) {
    const wrong = await search({ pattern });
    assert.deepEqual([wrong.status, wrong.body.error.code], [400, 'invalid_request'], pattern);
  }
  const digits = await search({ pattern: '\\bnum\\d+\\b' });
  assert.deepEqual(
    digits.body.matches.map(({ path, line }: { path: string; line: number }) => `${path}:${line}`).sort(),
    ['~/digits/half-binary:1', '~/digits/text:2'],
    'the patterns of ripgrep, also in a file that turns out to be binary',
  );
  // Options, file names and commands are just patterns.
  for (const pattern of ['--version', '-f/etc/passwd', '$(id)', '; id']) {
    assert.deepEqual((await search({ pattern })).body.matches, [], pattern);
  }
});

test('finds the same lines with grep if ripgrep is missing', async () => {
  const programs = join(files.base, 'programs');
  mkdirSync(programs);
  symlinkSync('/usr/bin/grep', join(programs, 'grep'));
  const held = openSync(join(files.home, 'digits'), constants.O_RDONLY);
  const search = async (pattern: string) => {
    const lines: string[] = [];
    const take = ({ file, line }: GrepLine) => lines.push(`${file}:${line}`) > 0;
    await runGrep(
      { held, isFile: false, pattern, timeMs: 20_000, take, signal: new AbortController().signal },
      programs,
    );
    return lines.sort();
  };
  try {
    assert.deepEqual(await search('\\bnum\\d+\\b'), ['./half-binary:1', './text:2']);
    await assert.rejects(search('('), /not a regular expression: /);
  } finally {
    closeSync(held);
  }
});

test('writes an archive of 60,000 empty files with little work', async () => {
  const folder = join(files.home, 'many');
  for (let group = 0; group < 60; group += 1) {
    mkdirSync(join(folder, String(group)), { recursive: true });
    for (let index = 0; index < 1_000; index += 1) writeFileSync(join(folder, String(group), String(index)), '');
  }
  const before = process.cpuUsage();
  const { status, bytes } = await files.call(`/v1/files/archive${at('many')}`);
  const { user, system } = process.cpuUsage(before);
  assert.equal(status, 200);
  // The record at its end counts in 16 bits, and above that refers to the larger one before it.
  assert.equal(bytes.readUInt16LE(bytes.length - 22 + 10), 60_060);
  assert.ok(user + system < 30_000_000, `${(user + system) / 1e6} s of processor time`);
  rmSync(folder, { recursive: true });
});

test('keeps names in archives inside the target folder', () => {
  assert.equal(safeName(['home', 'C:', 'a\\..\\b', 'line\nbreak']), 'home/C_/a_.._b/line_break');
});

test('writes archives with many entries or an entry above 4 GiB that other tools can read', {
  skip: lacks('python3'),
}, async () => {
  async function* entries(): AsyncGenerator<ZipEntry> {
    const facts = { modifiedAt: new Date('2026-01-02T03:04:06Z'), mode: 0o755 };
    for (let index = 0; index < 70_000; index += 1) yield { ...facts, name: `d${index}/`, content: undefined };
    const bytes = () => Readable.from([Buffer.from('hello '), Buffer.from('world')]);
    yield { ...facts, name: 'small', content: { bytes: bytes(), sizeMax: 11 } };
    yield { ...facts, name: 'whole', content: Buffer.from('hello whole') };
    yield { ...facts, name: 'empty', content: Buffer.alloc(0) };
    yield { ...facts, name: 'large', content: { bytes: bytes(), sizeMax: 2 ** 40 } };
  }
  const chunks: Buffer[] = [];
  for await (const chunk of writeZip(entries())) chunks.push(chunk);
  const folder = mkdtempSync(join(tmpdir(), 'hp-zip-'));
  try {
    writeFileSync(join(folder, 'x.zip'), Buffer.concat(chunks));
    const script = [
      ...[
        'import sys,zipfile',
        'z=zipfile.ZipFile(sys.argv[1])',
        'assert len(z.namelist())==70004',
        'assert z.testzip() is None',
      ],
      ...['i=z.getinfo("small")', 'assert i.date_time==(2026,1,2,3,4,6) and i.external_attr>>16==0o100755'],
      'open(sys.argv[2],"wb").write(z.read("large")+z.read("whole")+z.read("empty"))',
    ].join(';');
    execFileSync('python3', ['-c', script, join(folder, 'x.zip'), join(folder, 'out')]);
    assert.equal(readFileSync(join(folder, 'out'), 'utf8'), 'hello worldhello whole');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
