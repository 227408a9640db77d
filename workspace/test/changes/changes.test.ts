import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { shortly, startChanges, treeOf } from './changes-harness.ts';

test('lists, shows, undoes and redoes a turn’s changes by tools and commands', async (t) => {
  const { home, run, put, edit, changes, apply, content } = await startChanges(t);
  writeFileSync(join(home, 'kept.txt'), 'one\n');
  writeFileSync(join(home, 'gone.txt'), 'gone\n');
  const before = treeOf(home);
  await put('t1', 'site/index.html', '<h1>Hi</h1>');
  await edit('t1', 'kept.txt', 'one', 'two');
  await run('t1', 'rm gone.txt; mkdir empty; ln -s kept.txt link; chmod 600 kept.txt');
  const after = treeOf(home);
  assert.deepEqual(shortly(await changes('t1')), [
    'added ~/empty applied',
    'deleted ~/gone.txt applied',
    'modified ~/kept.txt applied',
    'added ~/link applied',
    'added ~/site/index.html applied',
  ]);
  assert.equal((await content('t1', '~/kept.txt', 'before')).text, 'one\n');
  assert.equal((await content('t1', '~/kept.txt', 'after')).text, 'two\n');
  assert.equal((await content('t1', '~/gone.txt', 'after')).status, 404);
  assert.deepEqual((await apply('t1', 'undo')).conflicts, []);
  assert.deepEqual(treeOf(home), before);
  assert.deepEqual(await apply('t1', 'undo'), { applied: 0, conflicts: [], skipped: [] });
  await apply('t1', 'redo', { paths: ['~/site'] });
  assert.equal(readFileSync(join(home, 'site/index.html'), 'utf8'), '<h1>Hi</h1>');
  assert.deepEqual(
    (await changes('t1')).files.map(({ state }) => state),
    ['undone', 'undone', 'undone', 'undone', 'applied'],
  );
  await apply('t1', 'redo');
  assert.deepEqual(treeOf(home), after);
});

test('counts the lines that each text gained and lost', async (t) => {
  const { home, run, put, edit, changes } = await startChanges(t);
  writeFileSync(join(home, 'kept.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(home, 'gone.txt'), 'gone\nwithout an end');
  await put('t1', 'new.txt', 'a\nb\n');
  await edit('t1', 'kept.txt', 'two', 'second\nand a half');
  await run('t1', String.raw`rm gone.txt; printf '\0\1\n' > bytes.bin; mkdir folder; seq 200000 > long.txt`);
  const counts = (await changes('t1')).files.map(({ path, lines }) => [path, lines]);
  assert.deepEqual(counts, [
    ['~/bytes.bin', undefined],
    ['~/folder', undefined],
    ['~/gone.txt', { added: 0, removed: 2 }],
    ['~/kept.txt', { added: 2, removed: 1 }],
    ['~/long.txt', undefined],
    ['~/new.txt', { added: 2, removed: 0 }],
  ]);
});

test('never overwrites the person’s changes during or since a turn without asking', async (t) => {
  const { home, run, put, changes, apply, daemon } = await startChanges(t);
  await put(undefined, 'mine.txt', 'mine');
  await run('t1', 'echo model > a.txt; echo model > b.txt');
  writeFileSync(join(home, 'a.txt'), 'person\n');
  const tree = treeOf(home);
  assert.deepEqual((await apply('t1', 'undo')).conflicts, ['~/a.txt']);
  assert.deepEqual(treeOf(home), tree);
  assert.deepEqual((await apply('t1', 'undo', { paths: ['b.txt'] })).applied, 1);
  assert.equal((await apply('t1', 'undo', { force: true })).applied, 1);
  assert.deepEqual(Object.keys(treeOf(home)), ['mine.txt']);
  await apply('t1', 'redo');
  assert.deepEqual(treeOf(home), tree, 'what was given up by force comes back');

  const running = daemon.exec({
    id: 'slow',
    turn: 't2',
    command: 'echo x > c.txt; echo go; until [ -e stop ]; do sleep 0.01; done',
  });
  await running.next((event) => event.type === 'stdout');
  await put(undefined, 'upload.txt', 'of the person');
  await put(undefined, 'stop', '');
  await running.ended;
  assert.deepEqual(shortly(await changes('t2')), ['added ~/c.txt applied']);

  const terminal = daemon.openTerminal('id=one&columns=80&rows=24');
  await terminal.opened;
  const typing = daemon.exec({
    id: 'typing',
    turn: 't3',
    command: 'echo go; until [ -e typed ]; do sleep 0.01; done; echo x > d.txt',
  });
  await typing.next((event) => event.type === 'stdout');
  terminal.type('echo by hand > typed.tmp; mv typed.tmp typed\n');
  await typing.ended;
  assert.deepEqual((await apply('t3', 'undo')).conflicts, ['~/d.txt', '~/typed']);
  terminal.socket.terminate();
});

test('leaves ignored files alone even if the rules change', async (t) => {
  const { home, run, changes, apply } = await startChanges(t);
  mkdirSync(join(home, 'app/build'), { recursive: true });
  writeFileSync(join(home, 'app/.gitignore'), 'build/\n*.log\n!keep.log\n');
  writeFileSync(join(home, 'app/secret.log'), 'log');
  await run(
    't1',
    'cd app; echo x > build/out; echo x > new.log; echo x > keep.log; mkdir -p node_modules/x; touch node_modules/x/y',
  );
  assert.deepEqual(shortly(await changes('t1')), ['added ~/app/keep.log applied']);
  await run('t2', 'cd app; echo > .gitignore; echo "*.log" > ../.gitignore');
  await apply('t2', 'undo');
  assert.equal(
    readFileSync(join(home, 'app/secret.log'), 'utf8'),
    'log',
    'a file that was left out is not taken for a new one',
  );
  await apply('t1', 'undo');
  assert.deepEqual(Object.keys(treeOf(home)).sort(), [
    ...['app', 'app/.gitignore', 'app/build', 'app/build/out', 'app/new.log'],
    ...['app/node_modules', 'app/node_modules/x', 'app/node_modules/x/y', 'app/secret.log'],
  ]);
});

test('never writes through a link or over a folder with files of the person in an undo', async (t) => {
  const { home, base, run, apply } = await startChanges(t);
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(base, 'outside/f'), 'outside');
  mkdirSync(join(home, 'd'));
  writeFileSync(join(home, 'd/f'), 'one');
  writeFileSync(join(home, 'file'), 'was a file');
  await run('t1', 'echo two > d/f; rm file; mkdir file; echo x > file/x');
  await run(undefined, `rm -r d; echo mine > file/mine`);
  symlinkSync(join(base, 'outside'), join(home, 'd'));
  assert.deepEqual((await apply('t1', 'undo')).conflicts.sort(), ['~/d/f', '~/file']);
  const forced = await apply('t1', 'undo', { force: true });
  assert.deepEqual(forced.skipped.map(({ path }) => path).sort(), ['~/d/f', '~/file']);
  assert.equal(readFileSync(join(base, 'outside/f'), 'utf8'), 'outside');
  assert.equal(readFileSync(join(home, 'file/mine'), 'utf8'), 'mine\n');
});

test('recovers after kill -9 in a command or an undo and can finish the undo', async (t) => {
  const first = await startChanges(t);
  const { home, base } = first;
  await first.run(
    undefined,
    'mkdir -p many/deep; for i in $(seq 600); do echo $i > many/f$i; done; echo x > many/deep/y',
  );
  const before = treeOf(home);
  const command =
    'for i in $(seq 600); do echo more >> many/f$i; done; rm -r many/deep; mkdir new; touch new/a; echo done; sleep 60';
  const running = first.daemon.exec({ id: 'long', turn: 't1', command });
  await running.next((event) => event.type === 'stdout');
  first.daemon.child.kill('SIGKILL');
  await running.ended;
  const after = treeOf(home);

  const second = await startChanges(t, base);
  assert.equal((await second.changes('t1')).files.length, 602);
  const undoing = second.apply('t1', 'undo').catch(() => undefined);
  const isBegun = (): boolean =>
    readFileSync(join(home, 'many/f50'), 'utf8') === '50\n' || !isThere(join(home, 'new/a'));
  while (!isBegun()) await new Promise(setImmediate);
  second.daemon.child.kill('SIGKILL');
  await undoing;

  const third = await startChanges(t, base);
  assert.deepEqual((await third.apply('t1', 'undo')).conflicts, []);
  assert.deepEqual(treeOf(home), before);
  await third.apply('t1', 'redo');
  assert.deepEqual(treeOf(home), after);
});

test('deletes the data of a forgotten turn and restores a folder without permissions', async (t) => {
  const { home, run, changes, apply, post, content } = await startChanges(t);
  await run('t1', 'echo secret > s; mkdir closed; echo x > closed/f');
  await run('t2', 'chmod 000 closed; rm s');
  await apply('t2', 'undo');
  assert.equal(treeOf(home).closed, 'folder 755');
  assert.equal((await content('t2', 's', 'before')).text, 'secret\n');
  await post('/v1/changes/forget', { turns: ['t1', 't2'] });
  assert.deepEqual(await changes('t2'), { files: [], left: [], truncated: false });
  chmodSync(join(home, 'closed'), 0o755);
});

function isThere(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
