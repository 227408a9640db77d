import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ChangeBounds } from '../../src/daemon/changes/changes.ts';
import { bareChanges } from './changes-harness.ts';

const KiB = 1024;

/** `turn` writes as a command of that turn. */
function startBounded(t: TestContext, bounds: Partial<ChangeBounds>) {
  const { home, changes, write } = bareChanges(t, bounds);
  const turn = async (id: string, work: () => void): Promise<void> => {
    const window = await changes.begin(id);
    work();
    await window.end();
  };
  const undo = async (id: string) => {
    const applied = await changes.apply(id, 'undo', undefined, false);
    return applied === undefined ? 'unknown' : [applied.applied, ...applied.skipped.map(({ reason }) => reason)];
  };
  const left = async (id: string) => [...((await changes.list(id))?.left ?? [])];
  return { home, changes, write, turn, undo, left };
}

test('evicts the oldest turns from a full store, never the current one', async (t) => {
  const { write, turn, undo, changes } = startBounded(t, { bytes: 100 * KiB });
  for (const id of ['a', 'b', 'c', 'd']) {
    await turn(id, () => write('file', 30 * KiB, id));
  }
  assert.deepEqual(await changes.turns(), ['c', 'd']);
  assert.equal(await undo('b'), 'unknown');
  assert.deepEqual(await undo('d'), [1]);
  assert.deepEqual(await undo('c'), [1]);
});

test('lists a file that does not fit as not kept and evicts no other turn for it', async (t) => {
  const { write, turn, undo, changes } = startBounded(t, { bytes: 100 * KiB });
  write('file', 30 * KiB, 'one');
  await turn('small', () => write('file', 30 * KiB, 'two'));
  await turn('large', () => write('large', 101 * KiB));
  const [change] = (await changes.list('large'))?.files ?? [];
  assert.match(change?.after?.type === 'file' ? change.after.content : '', /^\?/);
  await turn('gone', () => write('large', 0));
  assert.deepEqual(await undo('gone'), [0, 'not_kept']);
  assert.deepEqual(await undo('small'), [1]);
});

test('counts small files in the store in blocks, as the disk does', async (t) => {
  const { write, turn, changes, home } = startBounded(t, { bytes: 40 * KiB });
  const names = Array.from({ length: 20 }, (_, index) => `file-${index}`);
  await turn('a', () => {
    for (const name of names) write(name, 100);
  });
  const states = (await changes.list('a'))?.files.map(({ after }) => after?.type === 'file' && after.content);
  assert.equal(states?.filter((content) => content !== false && !content?.startsWith('?')).length, 10);
  const blobs = join(home, '.workspace/.homeport-changes/blobs');
  assert.equal(readdirSync(blobs).flatMap((start) => readdirSync(join(blobs, start))).length, 10);
});

test('reports a folder with too many entries as skipped, without changes in it', async (t) => {
  const { home, write, turn, undo, left } = startBounded(t, { entries: 20 });
  mkdirSync(join(home, 'many'));
  for (let index = 0; index < 30; index += 1) write(`many/${index}`, 1);
  await turn('a', () => {
    write('plain', 1);
    rmSync(join(home, 'many/1'));
  });
  assert.deepEqual(await left('a'), [['many', 'too_many']]);
  assert.deepEqual(await undo('a'), [1]);
  assert.deepEqual(readdirSync(home).sort(), ['.workspace', 'many']);
  assert.equal(readdirSync(join(home, 'many')).length, 29);
});

test('reports a scan that takes too long as skipped, without changes', async (t) => {
  const { write, turn, undo, left, home } = startBounded(t, { milliseconds: -1 });
  await turn('a', () => write('file', 1));
  assert.deepEqual(await left('a'), [['', 'time']]);
  assert.deepEqual(await undo('a'), [0]);
  assert.deepEqual(readdirSync(home).sort(), ['.workspace', 'file']);
});
