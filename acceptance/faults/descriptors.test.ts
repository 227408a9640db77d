import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { embeddedPid, scratchFolder, setUp, startProduct, workspacePids } from '../product.ts';

const whyNot =
  spawnSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0
    ? false
    : 'no sandbox can be made here';

const numbers = [9, 63, 200, 255];

test('passes no open descriptor of its parent to workspaces and the database', {
  timeout: 300_000,
  skip: whyNot,
}, async () => {
  const folder = scratchFolder();
  const dataDir = join(folder, 'data');
  const canaries = join(folder, 'canaries');
  mkdirSync(canaries);
  writeFileSync(join(canaries, 'lock'), 'canary');
  const opened = numbers.map((number, index) => ({
    number,
    descriptor: openSync(index % 2 === 0 ? join(canaries, 'lock') : canaries, 'r'),
  }));
  const given = Array.from(
    { length: 253 },
    (_, index) => opened.find(({ number }) => number === index + 3)?.descriptor ?? ('ignore' as const),
  );
  const product = await startProduct(dataDir, { WORKSPACE_MODE: 'local' }, 0, given);
  for (const { descriptor } of opened) closeSync(descriptor);
  const ada = await setUp(product.url);
  await ada.must('POST', '/api/workspace/status');

  const roots = [embeddedPid(dataDir) ?? 0, ...workspacePids(dataDir)];
  const all = new Set(roots.flatMap(withDescendants));
  assert.ok(all.size >= 5, `the database, its helpers and a workspace run: ${[...all].join(' ')}`);
  for (const pid of all) assert.deepEqual(openBelow(pid, canaries), [], `process ${pid} (${commandOf(pid)})`);
  assert.deepEqual(
    openBelow(product.child.pid ?? 0, canaries).filter((number) => number >= 16),
    [],
    'the service itself',
  );
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
});

function openBelow(pid: number, folder: string): number[] {
  return descriptorsOf(pid)
    .filter((number) => linkOf(`/proc/${pid}/fd/${number}`).startsWith(folder))
    .map(Number);
}

/** None of a process that has ended since, as the database's helpers do. */
function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function withDescendants(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
  return [pid, ...children.flatMap(withDescendants)];
}

function parentOf(pid: string): number {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    );
  } catch {
    return 0;
  }
}

function commandOf(pid: number): string {
  return existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : 'ended';
}
