import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { shortly, startChanges, treeOf } from './changes-harness.ts';

const kept = '.workspace/.homeport-changes';

test('attributes an upload during a turn to the person', async (t) => {
  const { run, changes, daemon, home } = await startChanges(t);
  await run('t1', 'echo 1 > one');
  const uploads = ['within', 'after'].map((name) => {
    const upload = request({
      socketPath: daemon.socketPath,
      path: `/v1/files/content?path=${name}`,
      method: 'PUT',
      headers: { authorization: `Bearer ${daemon.token}` },
    });
    upload.write('begun');
    const ended = new Promise((resolve) => upload.once('response', (answer) => resolve(answer.statusCode)));
    return { upload, ended };
  });
  const [within, after] = uploads;
  await until(async () => (await daemon.call('/v1/health')).text.includes('"transfers":2'));
  const running = daemon.exec({ id: 'c', turn: 't2', command: 'echo go; until [ -e stop ]; do sleep 0.01; done' });
  await running.next((event) => event.type === 'stdout');
  within?.upload.end();
  assert.equal(await within?.ended, 201);
  writeFileSync(join(home, 'stop'), '');
  await running.ended;
  after?.upload.end();
  assert.equal(await after?.ended, 201);
  await run('t3', 'echo 3 > three');
  assert.deepEqual(shortly(await changes('t2')), ['added ~/stop applied']);
  assert.deepEqual(shortly(await changes('t3')), ['added ~/three applied']);
});

test('keeps the permissions of a folder that the person recreated when an undo restores files in it', async (t) => {
  const { run, apply, home } = await startChanges(t);
  await run(undefined, 'mkdir -m 750 box other; echo 1 > box/one; echo 1 > other/one');
  await run('t1', 'rm -r box other');
  await run(undefined, 'mkdir -m 755 box; echo mine > box/mine');
  const tree = treeOf(home);
  assert.deepEqual((await apply('t1', 'undo')).conflicts, []);
  assert.deepEqual(Object.keys(treeOf(home)), ['box', 'box/mine', 'box/one', 'other', 'other/one']);
  assert.deepEqual([treeOf(home).box, treeOf(home).other], ['folder 755', 'folder 750']);
  await apply('t1', 'redo');
  assert.deepEqual(treeOf(home), tree);
});

test('loses only the stored versions when the store is removed', async (t) => {
  const { run, changes, apply, home } = await startChanges(t);
  await run('t1', 'echo mine > mine');
  await run('t2', 'rm -rf ~/.workspace; echo 2 > two');
  assert.deepEqual(shortly(await changes('t2')), []);
  await run('t3', 'echo 3 > three; echo 3 > mine');
  assert.deepEqual(shortly(await changes('t3')), ['modified ~/mine applied', 'added ~/three applied']);
  await apply('t3', 'undo');
  assert.equal(readFileSync(join(home, 'mine'), 'utf8'), 'mine\n');
  assert.deepEqual(Object.keys(treeOf(home)).sort(), ['mine', 'two']);
});

for (const [what, harm] of [
  ['gone', (journal: string) => rmSync(journal)],
  ['cut off', (journal: string) => truncateSync(journal, 20)],
] as const) {
  test(`kill -9, and the list of what there was is ${what}: nothing of the person’s is taken for the turn’s`, async (t) => {
    const first = await startChanges(t);
    const { home, base } = first;
    writeFileSync(join(home, 'mine.txt'), 'mine');
    const running = first.daemon.exec({ id: 'c', turn: 't1', command: 'echo x > made; echo done; sleep 60' });
    await running.next((event) => event.type === 'stdout');
    first.daemon.child.kill('SIGKILL');
    await running.ended;
    harm(join(home, kept, 'journal'));
    const second = await startChanges(t, base);
    const { files, left } = await second.changes('t1');
    assert.deepEqual([files, left], [[], [{ path: '~', reason: 'unreadable' }]]);
    await second.apply('t1', 'undo');
    assert.deepEqual(Object.keys(treeOf(home)).sort(), ['made', 'mine.txt']);
    await second.run('t2', 'rm mine.txt');
    await second.apply('t2', 'undo');
    assert.equal(readFileSync(join(home, 'mine.txt'), 'utf8'), 'mine');
  });
}

test('restores the overwritten versions after kill -9 in a forced undo', async (t) => {
  const first = await startChanges(t);
  const { home, base } = first;
  await first.run('t1', 'for i in $(seq 600); do echo model > f$i; done');
  await first.run(undefined, 'for i in $(seq 600); do echo person > f$i; done');
  const tree = treeOf(home);
  const undoing = first.apply('t1', 'undo', { force: true }).catch(() => undefined);
  const files = readdirSync(home).length;
  while (readdirSync(home).length === files) await new Promise(setImmediate);
  first.daemon.child.kill('SIGKILL');
  await undoing;
  const second = await startChanges(t, base);
  await second.apply('t1', 'undo', { force: true });
  assert.deepEqual(treeOf(home), {});
  await second.apply('t1', 'redo');
  assert.deepEqual(treeOf(home), tree);
});
