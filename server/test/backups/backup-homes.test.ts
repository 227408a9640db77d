import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type Member, readArchive } from '../../src/backups/archive-reader.ts';
import { ArchiveWriter } from '../../src/backups/archive-writer.ts';
import { restoreHome, writeHomes } from '../../src/backups/homes.ts';

/** Homes in backups: users choose the names and links in them, also while they are read. */

const run = promisify(execFile);
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-homes-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** A data folder with an empty home. */
async function place(name: string): Promise<{ dataDir: string; home: string }> {
  const dataDir = join(folder, name);
  const home = join(dataDir, 'workspaces/w1/home');
  await mkdir(home, { recursive: true });
  return { dataDir, home };
}

/** The archive of all homes; `seen` is called with each piece before the next one is made. */
async function archiveOf(dataDir: string, seen: (bytes: Buffer) => Promise<void> = async () => undefined) {
  const pieces: Buffer[] = [];
  const writer = new ArchiveWriter(async (bytes) => {
    pieces.push(Buffer.from(bytes));
    await seen(Buffer.from(bytes));
  });
  const counts = await writeHomes({ dataDir }, writer, new AbortController().signal);
  await writer.finish({});
  return { bytes: Buffer.concat(pieces), counts };
}

async function restored(bytes: Buffer, dataDir: string): Promise<string[]> {
  await mkdir(dataDir, { recursive: true });
  const names: string[] = [];
  for await (const member of readArchive(Readable.from([bytes]))) {
    await restoreHome(dataDir, member);
    names.push(member.name);
  }
  return names;
}

test('backs up names with line breaks, backslashes, invalid UTF-8 and very long paths', async () => {
  const { dataDir, home } = await place('names');
  const odd = ['a\nb', 'back\\slash', 'line\r', '\\n', `${'0'.repeat(64)}  end.json`, ' spaces ', 'fffe'];
  for (const name of odd) await writeFile(join(home, name), name);
  await writeFile(Buffer.concat([Buffer.from(`${home}/`), Buffer.from([0xff, 0xfe])]), 'no text');
  let deep = home;
  for (let depth = 0; depth < 15; depth += 1) deep = join(deep, `${depth}-`.padEnd(250, 'd'));
  await mkdir(deep, { recursive: true });
  const { bytes, counts } = await archiveOf(dataDir);
  const target = join(folder, 'a-place-with-a-name-as-long-as-that', 'x'.repeat(200));
  await restored(bytes, target);
  for (const name of odd) assert.equal(await readFile(join(target, 'workspaces/w1/home', name), 'utf8'), name);
  assert.equal(counts.files, odd.length);
  assert.ok(counts.skipped >= 2, `${counts.skipped} skipped`);

  // The documented command.
  const [file, plain] = [join(folder, 'names.tar'), join(folder, 'names-plain')];
  await mkdir(plain);
  await writeFile(file, bytes);
  await run('tar', ['-C', plain, '-xf', file]);
  await run('sh', ['-c', 'cat sums/* | sha256sum --check --quiet --strict'], { cwd: plain });
});

test('nested folders use a bounded number of descriptors', async () => {
  const { dataDir, home } = await place('deep');
  await mkdir(join(home, 'd/'.repeat(300)), { recursive: true });
  await writeFile(join(home, 'beside.txt'), 'kept');
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  let most = 0;
  const { counts } = await archiveOf(dataDir, async () => {
    most = Math.max(most, open());
  });
  assert.deepEqual([counts.files, counts.skipped], [1, 1]);
  assert.ok(most - before < 450, `${most - before} descriptors`);
});

test('does not follow a folder that becomes a link while it is read', async () => {
  const { dataDir, home } = await place('swapped');
  await writeFile(join(dataDir, 'secrets.json'), 'the secrets of the installation');
  await mkdir(join(home, 'work'));
  await writeFile(join(home, 'work', 'mine.txt'), 'mine');
  let swapped = false;
  const { bytes } = await archiveOf(dataDir, async (piece) => {
    if (swapped || !piece.includes('home/work')) return;
    swapped = true;
    await rename(join(home, 'work'), join(home, 'elsewhere'));
    await symlink(dataDir, join(home, 'work'));
  });
  assert.ok(swapped);
  assert.ok(!bytes.includes('the secrets of the installation'));
});

test('a restore of homes writes nothing through a link', async () => {
  const { dataDir } = await place('target');
  const outside = join(folder, 'outside');
  await mkdir(outside);
  const member = (name: string, more: Partial<Member>): Member => ({
    name: `workspaces/w2/home${name}`,
    size: 0,
    kind: 'folder',
    mode: 0o755,
    ...more,
    content: Readable.from([]),
    bytes: async () => Buffer.alloc(0),
  });
  await restoreHome(dataDir, member('', {}));
  await restoreHome(dataDir, member('/link', { kind: 'link', target: outside }));
  for (const name of ['/link/made', '/link/made/deeper', '/link/made/file']) {
    const kind = name.endsWith('file') ? 'file' : 'folder';
    await assert.rejects(restoreHome(dataDir, member(name, { kind })), /damaged/);
  }
  assert.equal(existsSync(join(outside, 'made')), false);
  // Twice, as when it is created again while its folder is read.
  await restoreHome(dataDir, member('/link', { kind: 'link', target: '/' }));
  await restoreHome(dataDir, member('', {}));
});
