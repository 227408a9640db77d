import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Applied } from '../../src/daemon/changes/apply.ts';
import { bareChanges } from './changes-harness.ts';

const nothing = { value: undefined };

test('never reverts an upload that finishes as a command ends without asking', async (t) => {
  const { home, changes, write } = bareChanges(t);
  const window = await changes.begin('t1');
  const upload = async () => {
    write('mine', 10);
    await window.end();
    return nothing;
  };
  await changes.around(undefined, upload, ['mine']);
  assert.deepEqual((await changes.apply('t1', 'undo', undefined, false))?.conflicts, ['mine']);
  assert.ok(existsSync(join(home, 'mine')));
});

test('never reverts such an upload under another name without asking', async (t) => {
  const { home, changes, write } = bareChanges(t);
  const window = await changes.begin('t1');
  const upload = () => {
    write('mine (1)', 10);
    void window.end();
    return { ...nothing, paths: ['mine (1)'] };
  };
  await changes.around(undefined, upload, ['mine']);
  assert.deepEqual((await changes.apply('t1', 'undo', undefined, false))?.conflicts, ['mine (1)']);
  assert.ok(existsSync(join(home, 'mine (1)')));
});

test('attributes an upload during a turn’s first scan to the person', async (t) => {
  const bare = bareChanges(t);
  const { home, changes, write } = bare;
  const upload = () => {
    write('mine', 10);
    return nothing;
  };
  const window = await beginWith(bare, () => changes.around(undefined, upload, ['mine']));
  write('made', 10);
  await window.end();
  assert.deepEqual((await changes.apply('t1', 'undo', undefined, false))?.applied, 1);
  assert.deepEqual(readdirSync(home).sort(), ['.workspace', 'large', 'mine']);
});

test('treats input typed during a turn’s first scan as possibly executed during the turn', async (t) => {
  const bare = bareChanges(t);
  const { changes, write } = bare;
  const window = await beginWith(bare, async () => changes.typed());
  write('mine', 10);
  await window.end();
  assert.deepEqual((await changes.apply('t1', 'undo', undefined, false))?.conflicts, ['mine']);
});

test('treats a command of no turn as a possible writer as long as it runs', async (t) => {
  const { changes, write } = bareChanges(t);
  const unknown = await changes.beginUnknown(false);
  const window = await changes.begin('t1');
  write('mine', 10);
  await window.end();
  await unknown.end();
  assert.deepEqual((await changes.apply('t1', 'undo', undefined, false))?.conflicts, ['mine']);
});

for (const [who, isRequest] of [
  ['a request', true],
  ['a person in the terminal', false],
] as const) {
  test(`keeps and reports what ${who} writes or deletes during an undo`, async (t) => {
    const { home, changes } = bareChanges(t);
    const put = (name: string, text: string) => writeFileSync(join(home, name), text);
    for (const name of ['deleted', 'edited', 'gone']) put(name, 'before');
    mkdirSync(join(home, 'box'), { mode: 0o750 });
    const window = await changes.begin('t1');
    const many = Array.from({ length: 200 }, (_, index) => `a${1000 + index}`);
    for (const name of [...many, 'added', 'deleted', 'edited']) put(name, 'model');
    rmSync(join(home, 'gone'));
    rmSync(join(home, 'box'), { recursive: true });
    await window.end();

    const undoing = changes.apply('t1', 'undo', undefined, false);
    await turnsUntil(() => !existsSync(join(home, 'a1000')));
    const write = () => {
      for (const name of ['added', 'edited', 'gone']) put(name, `mine ${name}`);
      rmSync(join(home, 'deleted'));
      mkdirSync(join(home, 'box'));
      chmodSync(join(home, 'box'), 0o755);
      return nothing;
    };
    const theirs = ['added', 'box', 'deleted', 'edited', 'gone'];
    if (isRequest) await changes.around(undefined, write, theirs);
    else write();
    assert.deepEqual(told(await undoing), { applied: many.length, conflicts: [], skipped: theirs });
    assert.deepEqual(readdirSync(home).sort(), ['.workspace', 'added', 'box', 'edited', 'gone']);
    for (const name of ['added', 'edited', 'gone'])
      assert.equal(readFileSync(join(home, name), 'utf8'), `mine ${name}`);
    assert.equal(statSync(join(home, 'box')).mode & 0o777, 0o755);
    const { conflicts } = told(await changes.apply('t1', 'undo', undefined, false));
    assert.deepEqual(conflicts, ['added', 'deleted', 'edited', 'gone']);
  });
}

test('keeps bytes written to a file while its content is copied', async (t) => {
  const bare = bareChanges(t);
  const window = await beginWith(bare, async () => undefined);
  bare.write('large', 1);
  await window.end();
  const applied = await undoWith(bare, () => bare.write('large', 4));
  assert.deepEqual(told(applied), { applied: 0, conflicts: [], skipped: ['large'] });
  assert.equal(readFileSync(join(bare.home, 'large'), 'utf8'), 'larg');
});

test('writes nothing through a link that replaces a folder during an undo', async (t) => {
  const bare = bareChanges(t);
  const { home, changes, write } = bare;
  mkdirSync(join(home, 'box'));
  write('box/file', 8 * 1024 * 1024);
  const window = await changes.begin('t1');
  write('box/file', 1);
  await window.end();
  const applied = await undoWith(bare, () => {
    renameSync(join(home, 'box'), join(home, 'moved'));
    symlinkSync('moved', join(home, 'box'));
  });
  assert.deepEqual(told(applied), { applied: 0, conflicts: [], skipped: ['box/file'] });
  assert.equal(statSync(join(home, 'moved/file')).size, 1);
});

test('keeps the permissions that a folder gets during an undo', async (t) => {
  const bare = bareChanges(t);
  const box = join(bare.home, 'box');
  mkdirSync(box, { mode: 0o755 });
  const window = await beginWith(bare, async () => undefined);
  bare.write('large', 1);
  chmodSync(box, 0o700);
  await window.end();
  await undoWith(bare, () => chmodSync(box, 0o711));
  assert.equal(statSync(box).mode & 0o777, 0o711);
});

test('overwrites with force only the versions from its start, not those written meanwhile', async (t) => {
  const bare = bareChanges(t);
  const { home, changes } = bare;
  const put = (text: string) => writeFileSync(join(home, 'mine'), text);
  const text = () => readFileSync(join(home, 'mine'), 'utf8');
  put('before');
  const window = await beginWith(bare, async () => undefined);
  bare.write('large', 1);
  put('model');
  await window.end();
  put('mine 1');
  const applied = await undoWith(bare, () => put('mine, later'), true);
  assert.deepEqual([told(applied), text()], [{ applied: 1, conflicts: [], skipped: ['mine'] }, 'mine, later']);
  assert.deepEqual((await changes.apply('t1', 'undo', undefined, false))?.conflicts, ['mine']);
  await changes.apply('t1', 'undo', undefined, true);
  assert.equal(text(), 'before');
  await changes.apply('t1', 'redo', undefined, false);
  assert.equal(text(), 'mine, later');
});

/** Begins the turn t1, and does something once its look has seen which names there are. */
async function beginWith(bare: ReturnType<typeof bareChanges>, work: () => Promise<void>) {
  bare.write('large', 8 * 1024 * 1024);
  const beginning = bare.changes.begin('t1');
  await turnsUntil(() => isCopying(bare));
  const [window] = await Promise.all([beginning, work()]);
  return window;
}

/** Undoes the turn t1, and does something while the content of its large file is copied. */
async function undoWith(bare: ReturnType<typeof bareChanges>, work: () => void, force = false) {
  const undoing = bare.changes.apply('t1', 'undo', undefined, force);
  await turnsUntil(() => isCopying(bare));
  work();
  return undoing;
}

function isCopying({ home }: ReturnType<typeof bareChanges>): boolean {
  const copies = join(home, '.workspace/.homeport-changes/tmp');
  return existsSync(copies) && readdirSync(copies).length > 0;
}

/** Looks in each turn of the event loop. */
async function turnsUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

function told(applied: Applied | undefined) {
  const { applied: count, conflicts, skipped } = applied ?? { applied: 0, conflicts: [], skipped: [] };
  for (const { reason } of skipped) assert.equal(reason, 'in_the_way');
  return { applied: count, conflicts: conflicts.sort(), skipped: skipped.map(({ path }) => path).sort() };
}
