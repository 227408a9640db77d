import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Answer, openBelow, startFiles } from './files-harness.ts';

/**
 * Every case of server/test/vectors/path-vectors.json whose target is the workspace; races are in files-races.test.ts.
 */

type Vector = {
  id: string;
  target?: string;
  op: string;
  path: string;
  verdict: string;
  why: string;
  wire?: string;
  note?: string;
};
const source = new URL('../../../server/test/vectors/path-vectors.json', import.meta.url);
const vectors = (JSON.parse(readFileSync(source, 'utf8')) as Vector[]).filter(({ target }) => target === 'workspace');
const canary = 'TOP-SECRET-CANARY-7f3a';

let files: Awaited<ReturnType<typeof startFiles>>;
before(async () => {
  files = await startFiles('home/user');
  layOut();
});
after(async () => {
  assert.deepEqual(files.faults, []);
  await until(() => openBelow(files.base).length === 1);
  await files.stop();
});

const inHome = (...names: string[]) => join(files.home, ...names);
const outside = () => join(files.base, 'outside');

/** The fixture of P000: a home, a sibling with almost the same name, and targets of links. */
function layOut(): void {
  for (const folder of [outside(), join(files.base, 'home/user2')]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'secret.txt'), canary);
  }
  writeFileSync(join(files.base, 'home/secret.txt'), canary);
  for (const folder of ['artifacts/sub', 'ok-dir']) mkdirSync(inHome(folder), { recursive: true });
  const names = vectors
    .filter(({ op, why }) => op === 'read' && why.startsWith('odd but legal'))
    .map(({ path }) => path);
  for (const name of ['artifacts/ok.txt', 'artifacts/sub/f.txt', 'noperm', 'original', ...names]) {
    writeFileSync(inHome(name), `INSIDE ${name}`);
  }
  writeFileSync(inHome('cafe\u0301.txt'), 'INSIDE nfd');
  writeFileSync(inHome('caf\u00e9.txt'), 'INSIDE nfc');
  chmodSync(inHome('noperm'), 0o000);
  linkSync(inHome('original'), inHome('hardlink'));
  for (const name of ['loop1', 'loop2']) symlinkSync(name === 'loop1' ? 'loop2' : 'loop1', inHome(name));
  const links: Record<string, string> = {
    'leaf-rel': '../../outside/secret.txt',
    'leaf-abs': join(outside(), 'secret.txt'),
    mid: '../../outside',
    root: '/',
    'link-to-link': 'mid',
    'dotdot-target': `${'../'.repeat(40)}etc/passwd`,
    passwd: '/etc/passwd',
    environ: '/proc/self/environ',
    proccwd: '/proc/self/cwd',
    fd0: '/proc/self/fd/0',
    self: 'self',
    'ok-rel': 'artifacts/ok.txt',
    'ok-abs': inHome('artifacts/ok.txt'),
    'via-parent': '../user/artifacts/ok.txt',
    null: '/dev/null',
    zerodev: '/dev/zero',
    'dangling-out': join(outside(), 'created'),
    chain5: 'chain4',
    chain4: 'chain3',
    chain3: 'chain2',
    chain2: 'chain1',
    chain1: 'artifacts/sub/f.txt',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, inHome(name));
  execFileSync('mkfifo', [inHome('fifo')]);
}

test('reads all 103 vectors', () => assert.equal(vectors.length, 103));

for (const vector of vectors.filter(({ op }) => op !== 'race')) {
  test(`${vector.id} ${vector.op} ${JSON.stringify(vector.path.slice(0, 40))}: ${vector.why}`, async () => {
    if (vector.op === 'multipart-filename') return basename(vector);
    const answers = vector.op === 'write' ? [await write(vector)] : await read(vector);
    for (const answer of answers) judge(vector, answer);
    nothingOutside();
  });
}

/** Each way to read something: its bytes, its beginning, its metadata, a search in it. */
async function read(vector: Vector): Promise<Answer[]> {
  const query = `?path=${onTheWire(vector)}`;
  if (vector.op === 'list') return [await files.call(`/v1/files${query}`)];
  const content = await files.call(`/v1/files/content${query}`);
  // Read as what it is not, or described as such: only then are a file's bytes refused.
  if (['P008', 'P089', 'P095', 'P118'].includes(vector.id)) return [content];
  const path = vector.wire === undefined && !vector.note ? pathOf(vector) : undefined;
  const searched =
    path === undefined ? [] : [await files.call('/v1/files/search', { json: { path, pattern: 'CANARY|INSIDE|root' } })];
  return [content, await files.call(`/v1/files${query}`), await files.call(`/v1/files/stat${query}`), ...searched];
}

function write(vector: Vector): Promise<Answer> {
  return files.call(`/v1/files/content?path=${onTheWire(vector)}&onConflict=replace`, {
    method: 'PUT',
    body: 'written',
  });
}

function onTheWire(vector: Vector): string {
  if (vector.note?.includes('lone surrogate')) return '%ED%A0%80';
  return vector.wire ?? encodeURIComponent(pathOf(vector));
}

function pathOf({ path }: Vector): string {
  return path.replace('$HOME_ABS', files.home);
}

function judge(vector: Vector, { status, body, bytes }: Answer): void {
  const text = bytes.toString();
  assert.ok(!text.includes(canary) && !text.includes('root:x:'), 'nothing from outside');
  // As root, the daemon can read what its user could not.
  const isRootOnly = vector.id === 'P118' && process.getuid?.() === 0;
  if (vector.verdict === 'allow' || isRootOnly) {
    assert.ok(status === 200 || status === 201, `${status} ${text}`);
    return;
  }
  const wanted = vector.verdict === 'not_found' ? [404, 400] : [400, 404, 409];
  assert.ok(wanted.includes(status), `${status} ${text}`);
  assert.ok(['invalid_path', 'invalid_request', 'not_found', 'path_taken'].includes(body.error.code), text);
  assert.ok(
    !/\/proc\/|\/fd\/|ENO|EACC|errno/.test(text) && !text.includes(files.base),
    `says nothing of the machine: ${text}`,
  );
}

function nothingOutside(): void {
  assert.equal(readFileSync(join(outside(), 'secret.txt'), 'utf8'), canary);
  assert.ok(!existsSync(join(outside(), 'created')) && !existsSync('/tmp/outside-new.txt'));
  assert.ok(!existsSync(join(files.base, 'home/new.txt')));
  assert.ok(lstatSync(inHome('leaf-abs')).isSymbolicLink() && lstatSync(inHome('fifo')).isFIFO());
}

/** The daemon takes no file names of forms; as paths they are refused or mean what they say, inside. */
async function basename({ path }: Vector): Promise<void> {
  const { status, body } = await files.call(`/v1/files/content?path=${encodeURIComponent(`artifacts/${path}`)}`, {
    method: 'PUT',
    body: 'written',
  });
  assert.ok([201, 400, 409].includes(status), JSON.stringify(body));
  nothingOutside();
}
