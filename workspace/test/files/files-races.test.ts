import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { until } from '../../../contracts/test/until.ts';
import { DaemonError } from '../../src/daemon/daemon-error.ts';
import { parsePath } from '../../src/daemon/file-system/home-path.ts';
import { refusalOf } from '../../src/daemon/file-system/system-errors.ts';
import { sendArchive } from '../../src/daemon/files/archive.ts';
import { sendContent } from '../../src/daemon/files/content.ts';
import { at, close, lookFlags } from '../../src/daemon/files/descriptors.ts';
import { editFile } from '../../src/daemon/files/edit.ts';
import { movePath } from '../../src/daemon/files/move.ts';
import type { OnConflict } from '../../src/daemon/files/publish.ts';
import { listOrPreview, statPath } from '../../src/daemon/files/read.ts';
import { removePath } from '../../src/daemon/files/remove.ts';
import { findEntries, searchText } from '../../src/daemon/files/search.ts';
import { type Home, openHome } from '../../src/daemon/files/walk.ts';
import { makeFolder, writeFile } from '../../src/daemon/files/write.ts';
import type { Exchange } from '../../src/daemon/http.ts';
import { openBelow } from './files-harness.ts';

/**
 * Another process keeps swapping a folder of the home with a link that leads outside, as fast as it can, while each
 * operation works in it; then it does the same with a file. How often per operation: SWAP_RACES=20000.
 */
const races = Number(process.env.SWAP_RACES ?? 2_000);
const patience = 100_000;
const canary = 'TOP-SECRET-CANARY';

const inHome = (...names: string[]) => join(base, 'home', ...names);
const outside = () => join(base, 'outside');

let base: string;
let home: Home;
/** The folder `d` itself, held. */
let folder: number;
before(() => {
  // In memory if possible, because every write is flushed.
  const place = process.env.SWAP_FOLDER ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
  base = mkdtempSync(join(place, 'hp-race-'));
  for (const folder of ['home', 'outside', 'home/d']) mkdirSync(join(base, folder));
  home = openHome(join(base, 'home'));
  folder = openSync(inHome('d'), lookFlags);
  writeFileSync(inHome('leaf'), 'INSIDE');
  for (const name of ['f', 'secret-name']) writeFileSync(join(outside(), name), canary);
  symlinkSync(outside(), inHome('d-trap'));
  symlinkSync(join(outside(), 'f'), inHome('leaf-trap'));
});
after(async () => {
  close(home.descriptor, folder);
  await until(() => openBelow(base).length === 0);
  rmSync(base, { recursive: true, force: true });
});

const path = (text: string) => parsePath(text, home.path);
const { signal } = new AbortController();

/** Swaps the two names in a separate process while `work` runs. */
async function swapping(one: string, other: string, work: () => Promise<void>): Promise<void> {
  const script = new URL('swapper.pl', import.meta.url).pathname;
  const child = spawn('perl', [script, process.arch, inHome(one), inHome(other)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    await new Promise((resolve, reject) => child.stdout.once('data', resolve).once('end', reject));
    await work();
  } finally {
    child.stdin.end('x');
    await ended;
  }
}

/** Performs an operation once and returns all that its caller gets to see. */
type Operation = { run: (index: number) => unknown; before?: () => void };

async function race(name: string, { run, before: prepare }: Operation): Promise<void> {
  let [done, refused, last] = [0, 0, ''];
  // On a busy machine the other process may wait for its turn: without it there is no race.
  const isRaced = () => done > 0 && refused > 0;
  for (let index = 0; index < races || (!isRaced() && index < patience); index += 1) {
    prepare?.();
    try {
      const seen = JSON.stringify((await run(index)) ?? '');
      assert.ok(!seen.includes(canary) && !seen.includes('secret-name'), `leaked in try ${index}: ${seen}`);
      done += 1;
    } catch (error) {
      const refusal = refusalOf(error);
      if (!(refusal instanceof DaemonError)) throw error;
      refused += 1;
      last = refusal.message;
    }
  }
  assert.ok(isRaced(), `${name}: ${done} done, ${refused} refused: ${last}`);
  assert.deepEqual(readdirSync(outside()).sort(), ['f', 'secret-name']);
  assert.equal(readFileSync(join(outside(), 'f'), 'utf8'), canary);
}

/** Collects the bytes that a response would contain. */
async function sent(send: (exchange: Exchange) => Promise<void>): Promise<string> {
  const chunks: Buffer[] = [];
  const response = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, next) {
        chunks.push(chunk);
        next();
      },
    }),
    { writeHead: () => response, headersSent: false },
  );
  const facts = { request: { headers: {} }, response, method: 'GET', signal };
  await send(facts as unknown as Exchange);
  return Buffer.concat(chunks).toString('latin1');
}

const space = { roomBytes: 1_000, count: () => undefined, tooMuch: () => assert.fail() };
const upload = (to: string, onConflict: OnConflict = 'replace') =>
  writeFile(home, path(to), { bytes: Readable.from([Buffer.from('INSIDE')]), size: 6, onConflict, space });
const page = { limit: 100, cursor: undefined };
const searched = { pattern: 'SECRET|INSIDE', glob: undefined, limit: 10 };

/** In the folder `d`, or in the link that has its name at that moment. */
const operations: Record<string, Operation> = {
  content: { run: () => sent((exchange) => sendContent(home, path('d/f'), exchange)) },
  preview: { run: () => listOrPreview(home, path('d/f'), page, signal) },
  stat: { run: () => (statPath(home, path('d/f')).size === 6 ? '' : canary) },
  list: { run: () => listOrPreview(home, path('d'), page, signal) },
  write: { run: (index) => upload(`d/w${index % 20}`) },
  'write below': { run: (index) => upload(`d/below${index % 20}/x`) },
  'write a new name': {
    async run(index) {
      const entry = await upload(`d/n${index}`, 'fail');
      rmSync(`${at(folder, '')}n${index}`);
      return entry;
    },
  },
  edit: { run: () => editFile(home, path('d/f'), [{ oldText: 'INSIDE', newText: 'INSIDE', all: false }]) },
  'make a folder': { run: (index) => makeFolder(home, path(`d/folder${index % 20}`)) },
  'move in': {
    async run(index) {
      await upload('source');
      return movePath(home, path('source'), path(`d/m${index % 20}`), 'replace');
    },
  },
  'move a folder': {
    run() {
      movePath(home, path('d/kept'), path('d/kept2'), 'fail');
      return movePath(home, path('d/kept2'), path('d/kept'), 'fail');
    },
    before: refill,
  },
  'move out': { run: () => movePath(home, path('d/f'), path('out'), 'replace'), before: refill },
  delete: { run: () => removePath(home, path('d/f')), before: refill },
  'delete a folder': { run: () => removePath(home, path('d/kept')), before: refill },
  archive: { run: async () => uncover(await sent((exchange) => sendArchive(home, path('d'), exchange))) },
  find: { run: () => findEntries(home, path('d'), { glob: undefined, limit: 100 }, signal) },
  search: { run: () => searchText(home, path('d'), searched, signal) },
};

/** Restores the removed files in the real folder `d`, under its current name. */
function refill(): void {
  const held = at(folder, '');
  writeFileSync(`${held}f`, 'INSIDE');
  mkdirSync(`${held}kept`, { recursive: true });
  rmSync(`${held}kept2`, { recursive: true, force: true });
}

/** The bytes in an archive are compressed, so its checksums are compared. */
function uncover(archive: string): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(canary));
  return archive.includes(sum.toString('latin1')) ? canary : archive;
}

/** One name is a file again and the other a link: a link that was exchanged for a file is gone. */
function layLeaf(): void {
  const isLink = (name: string) => lstatSync(inHome(name)).isSymbolicLink();
  if (isLink('leaf') || isLink('leaf-trap')) return;
  // Nothing is swapped while one of the names is missing.
  rmSync(inHome('leaf-trap'));
  if (isLink('leaf')) writeFileSync(inHome('leaf-trap'), 'INSIDE');
  else symlinkSync(join(outside(), 'f'), inHome('leaf-trap'));
}

/** On the file `leaf`, or on the link that has its name at that moment. */
const onLeaf: Record<string, Operation> = {
  content: { run: () => sent((exchange) => sendContent(home, path('leaf'), exchange)) },
  preview: { run: () => listOrPreview(home, path('leaf'), page, signal) },
  stat: { run: () => (statPath(home, path('leaf')).size === 6 ? '' : canary) },
  write: { run: () => upload('leaf'), before: layLeaf },
  edit: { run: () => editFile(home, path('leaf'), [{ oldText: 'INSIDE', newText: 'INSIDE', all: false }]) },
  search: { run: () => searchText(home, path('leaf'), searched, signal) },
};

for (const [name, operation] of Object.entries(operations)) {
  test(`${name}, in a folder that is exchanged with a link`, async () => {
    // Leftovers of earlier operations would only make it slow.
    for (const left of readdirSync(at(folder, ''))) rmSync(`${at(folder, '')}${left}`, { recursive: true });
    refill();
    await swapping('d', 'd-trap', () => race(name, operation));
  });
}

for (const [name, operation] of Object.entries(onLeaf)) {
  test(`${name}, on a file that is exchanged with a link`, async () => {
    layLeaf();
    await swapping('leaf', 'leaf-trap', () => race(name, operation));
  });
}
