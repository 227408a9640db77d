import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { lacks } from '../../contracts/test/programs.ts';
import { baseCommit, changedFiles, chooseTests } from './test-changed.mjs';

const root = mkdtempSync(join(tmpdir(), 'homeport-changed-'));
after(() => rmSync(root, { recursive: true, force: true }));

const sources = {
  'contracts/src/limits.ts': 'export const limit = 1;',
  'server/src/db/migrations/0001-first.sql': 'select 1;',
  'server/src/db/migrate.ts':
    "import { join } from 'node:path';\nexport const folder = join(import.meta.dirname, 'migrations');",
  'server/src/notes/notes.ts': "import { limit } from '@homeport/contracts/limits';\nexport const notes = limit;",
  'server/src/notes/shape.ts': "import type { Notes } from './names.ts';\nexport type Shape = Notes;",
  'server/src/notes/names.ts': 'export type Notes = string;',
  'server/src/main.ts': "import './notes/notes.ts';",
  'server/test/notes/notes.test.ts': "import { notes } from '../../src/notes/notes.ts';\nexport const seen = notes;",
  'server/test/db/migrate.test.ts': "import { folder } from '../../src/db/migrate.ts';\nexport const seen = folder;",
  'server/test/chart.test.ts': "import { join } from 'node:path';\nexport const chart = join(root, 'deploy/chart');",
  'server/test/shape.test.ts': "import type { Shape } from '../src/notes/shape.ts';\nexport const shape: Shape = '';",
  'deploy/chart/values.yaml': 'a: 1',
  'docs/guide.md': '# Guide',
};
const tests = Object.keys(sources).filter((file) => file.endsWith('.test.ts'));
const git = (...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root });
const write = (file, text) => {
  mkdirSync(join(root, dirname(file)), { recursive: true });
  writeFileSync(join(root, file), text);
};
for (const [file, text] of Object.entries(sources)) write(file, text);
const skip = lacks('git');

const chosenFor = (...changed) => [...chooseTests(root, tests, changed).reasons.keys()];

test('chooses the tests that import a changed file, through other files and packages', () => {
  assert.deepEqual(chosenFor('server/src/notes/notes.ts'), ['server/test/notes/notes.test.ts']);
  assert.deepEqual(chosenFor('contracts/src/limits.ts'), ['server/test/notes/notes.test.ts']);
  assert.deepEqual(chosenFor('server/test/chart.test.ts'), ['server/test/chart.test.ts']);
});

test('chooses the tests that read a changed migration or deploy file', () => {
  assert.deepEqual(chosenFor('server/src/db/migrations/0001-first.sql'), ['server/test/db/migrate.test.ts']);
  assert.deepEqual(chosenFor('server/src/db/migrations/0002-new.sql'), ['server/test/db/migrate.test.ts']);
  assert.deepEqual(chosenFor('deploy/chart/values.yaml'), ['server/test/chart.test.ts']);
});

test('leaves changed types and documents to the check', () => {
  assert.deepEqual(chosenFor('server/src/notes/names.ts'), []);
  const { reasons, product, all } = chooseTests(root, tests, ['docs/guide.md']);
  assert.deepEqual([reasons.size, product, all], [0, [], []]);
});

test('tests the built product after a change that no test imports', () => {
  assert.deepEqual(chooseTests(root, tests, ['server/src/main.ts']).product, ['server/src/main.ts']);
  assert.deepEqual(chooseTests(root, tests, ['server/src/notes/notes.ts']).product, []);
});

test('runs everything after a change of packages or of the test runner', () => {
  for (const file of ['package-lock.json', 'web/package.json', 'scripts/test/test-pool.mjs'])
    assert.deepEqual(chooseTests(root, tests, [file]).all, [file]);
});

test('counts uncommitted, new and deleted files, from the last commit on main by default', { skip }, () => {
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  write('server/src/notes/notes.ts', 'export const notes = 2;');
  write('server/src/new.ts', 'export const added = 1;');
  unlinkSync(join(root, 'docs/guide.md'));
  const expected = ['docs/guide.md', 'server/src/new.ts', 'server/src/notes/notes.ts'];
  assert.deepEqual(changedFiles(root, baseCommit(root)), expected);
  git('checkout', '-q', '-b', 'work');
  git('add', '-A');
  git('commit', '-q', '-m', 'second');
  assert.deepEqual(changedFiles(root, baseCommit(root)), expected);
  assert.deepEqual(changedFiles(root, baseCommit(root, 'HEAD')), []);
  assert.throws(() => baseCommit(root, 'nowhere'), /nowhere is not a commit/);
});
