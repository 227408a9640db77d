import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseRules } from '../../src/daemon/changes/ignored.ts';
import { shortly, startChanges } from './changes-harness.ts';

/** Whether Git leaves out a path, folders with a slash at their end; each was asked with `git check-ignore`. */
const cases: readonly [rules: string, left: readonly string[], kept: readonly string[]][] = [
  ['*.log\n!keep.log', ['a.log', 'x/a.log', '.log'], ['keep.log', 'a.logs', 'alog']],
  ['build/', ['build/', 'x/build/'], ['build', 'builds/']],
  ['/only', ['only', 'only/'], ['x/only']],
  ['a/b', ['a/b', 'a/b/'], ['x/a/b']],
  ['**/b/c', ['b/c', 'x/b/c', 'x/y/b/c'], ['x/c']],
  ['a/**', ['a/x', 'a/x/y'], ['a/', 'b/a/x']],
  ['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['z', 'a/zz']],
  ['x?[ab].[!c]', ['x1a.d', 'n/x1b.d'], ['x1c.d', 'x1a.c', 'xa.d']],
  ['# no\n\\#yes\n\\!mark', ['#yes', '!mark'], ['# no', 'no']],
  ['space \nkept\\ ', ['space', 'kept '], ['space ', 'kept']],
  ['*\n!*/\n!*.c', ['a', 'x/a.h'], ['x/', 'x/a.c']],
  ['a{b,c}\r\ntwo', ['a{b,c}', 'two'], ['ab']],
];

test('ignores the same paths as Git for a .gitignore', () => {
  for (const [text, left, kept] of cases) {
    const rules = parseRules(text);
    const isLeft = (path: string): boolean => {
      const names = path.replace(/\/$/, '').split('/');
      const rule = rules.find(({ isForFolders, fits }) => (path.endsWith('/') || !isForFolders) && fits(names));
      return rule !== undefined && !rule.isBack;
    };
    assert.deepEqual(left.filter(isLeft), left, text);
    assert.deepEqual(kept.filter(isLeft), [], text);
  }
});

test('stays responsive with a hostile .gitignore', { timeout: 300_000 }, async (t) => {
  const { home, run, changes } = await startChanges(t);
  const names = Array.from({ length: 900 }, () => 'a').join('/');
  mkdirSync(join(home, 'repo', names), { recursive: true });
  writeFileSync(join(home, 'repo/.gitignore'), `${'**/a/'.repeat(20)}b\n${'*a'.repeat(100)}b\n`);
  writeFileSync(join(home, 'repo', 'a'.repeat(255)), '');
  await run('t1', 'echo x > repo/new');
  assert.deepEqual(shortly(await changes('t1')), ['added ~/repo/new applied']);
});
