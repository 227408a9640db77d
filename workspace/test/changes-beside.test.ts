import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bareChanges } from './changes-harness.ts';

const nothing = { value: undefined };

test('an upload that is done as a command ends is never taken back without asking', async (t) => {
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

test('so is one that got another name', async (t) => {
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

test('an upload that is done while a turn’s first look goes on is the person’s', async (t) => {
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

test('what is typed while a turn’s first look goes on may be done during the turn', async (t) => {
  const bare = bareChanges(t);
  const { changes, write } = bare;
  const window = await beginWith(bare, async () => changes.typed());
  write('mine', 10);
  await window.end();
  assert.deepEqual((await changes.apply('t1', 'undo', undefined, false))?.conflicts, ['mine']);
});

test('a command of nobody may write as long as it runs', async (t) => {
  const { changes, write } = bareChanges(t);
  const unknown = await changes.beginUnknown(false);
  const window = await changes.begin('t1');
  write('mine', 10);
  await window.end();
  await unknown.end();
  assert.deepEqual((await changes.apply('t1', 'undo', undefined, false))?.conflicts, ['mine']);
});

/** Begins the turn t1, and does something once its look has seen which names there are. */
async function beginWith({ home, changes, write }: ReturnType<typeof bareChanges>, work: () => Promise<void>) {
  write('large', 8 * 1024 * 1024);
  const beginning = changes.begin('t1');
  const copies = join(home, '.workspace/.homeport-changes/tmp');
  while (!existsSync(copies) || readdirSync(copies).length === 0) await new Promise(setImmediate);
  const [window] = await Promise.all([beginning, work()]);
  return window;
}
