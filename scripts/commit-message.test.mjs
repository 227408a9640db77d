import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { lacks } from '../contracts/test/programs.ts';
import { installCommitHook } from './commit-hook.mjs';
import { checkCommitMessage } from './commit-message.mjs';

const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), 'homeport-hook-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const good = [
  'feat(workspaces): stop a workspace after two unused minutes',
  "fix(db): don't grow the pool while connections keep coming back",
  'refactor(server/chat): reorder the fields of a response',
  'test(web): name tests with sentences about the product\n\nThe body says why.',
  'ci(.ci): never install packages twice',
  `docs(docs): ${'add '.repeat(15)}`.trimEnd().slice(0, 72),
  "Merge branch 'main' into work",
  'fixup! fix(db): close the pool',
];
const bad = [
  ['', /form type\(scope\): verb/],
  ['add a test', /form type\(scope\): verb/],
  ['fix: close the pool', /form type\(scope\): verb/],
  ['fix(db):close the pool', /form type\(scope\): verb/],
  ['Fix(db): close the pool', /form type\(scope\): verb/],
  ['chore(db): close the pool', /chore is not a type/],
  ['fix(db): a queue that moves opens no connection', /"a" is not an imperative verb/],
  ['fix(db): closes the pool', /"closes" is not an imperative verb/],
  ['fix(db): closed the pool', /"closed" is not an imperative verb/],
  ['fix(db): closing the pool', /"closing" is not an imperative verb/],
  ['fix(db): what is open is closed', /"what" is not an imperative verb/],
  ['fix(db): close the pool.', /without a period/],
  [`fix(db): close ${'the pool '.repeat(9)}`.trimEnd(), /characters: at most 72/],
  ['fix(db): close the pool\nbecause it leaks', /second line must be empty/],
];

test('accepts type(scope): verb within 72 characters, and subjects that Git writes', () => {
  for (const message of good) assert.deepEqual(checkCommitMessage(message), [], message);
});

test('rejects a wrong form, type, verb or length with the reason', () => {
  for (const [message, problem] of bad) assert.match(checkCommitMessage(message).join('\n'), problem, message);
});

// The clones have no configuration of this machine.
const { CI, npm_config_omit, ...own } = process.env;
const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
const environment = { ...own, PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
const skip = lacks('git');
const git = (cwd, ...args) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
    env: environment,
  });

function clone(name) {
  const path = join(folder, name);
  mkdirSync(path);
  git(path, 'init', '-q');
  cpSync(join(root, 'scripts'), join(path, 'scripts'), { recursive: true });
  return path;
}

test('installs a hook that lets Git refuse a wrong message', { skip }, () => {
  const path = clone('new');
  assert.equal(installCommitHook(path, environment), true);
  const commit = (message) =>
    spawnSync(
      'git',
      ['-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-q', '--allow-empty', '-m', message],
      {
        cwd: path,
        encoding: 'utf8',
        env: environment,
      },
    );
  const refused = commit('closes the pool');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /type\(scope\): verb/);
  assert.equal(commit('fix(db): close the pool').status, 0);
  assert.equal(installCommitHook(path, environment), false);
});

test('keeps a hook or a hooks path that the clone has', { skip }, () => {
  const path = clone('own-hook');
  const hook = join(path, '.git/hooks/commit-msg');
  writeFileSync(hook, '#!/bin/sh\n');
  chmodSync(hook, 0o644);
  assert.equal(installCommitHook(path, environment), false);
  assert.equal(readFileSync(hook, 'utf8'), '#!/bin/sh\n');
  const linked = clone('own-link');
  symlinkSync('missing', join(linked, '.git/hooks/commit-msg'));
  assert.equal(installCommitHook(linked, environment), false);
  const elsewhere = clone('own-path');
  git(elsewhere, 'config', 'core.hooksPath', 'hooks');
  assert.equal(installCommitHook(elsewhere, environment), false);
  assert.equal(existsSync(join(elsewhere, '.git/hooks/commit-msg')), false);
});

test('installs no hook for users: without a clone, in its subfolder, without development packages, in CI', {
  skip,
}, () => {
  const archive = join(folder, 'archive');
  mkdirSync(archive);
  assert.equal(installCommitHook(archive, environment), false);
  const path = clone('user');
  mkdirSync(join(path, 'vendor/.git'), { recursive: true });
  assert.equal(installCommitHook(join(path, 'vendor'), environment), false);
  assert.equal(installCommitHook(path, { ...environment, npm_config_omit: 'dev' }), false);
  assert.equal(installCommitHook(path, { ...environment, CI: 'true' }), false);
  assert.equal(existsSync(join(path, '.git/hooks/commit-msg')), false);
});

test('installs the hook of a linked worktree in its main clone', { skip }, () => {
  const path = clone('main');
  git(path, 'commit', '-q', '--allow-empty', '-m', 'first');
  const linked = join(folder, 'linked');
  git(path, 'worktree', 'add', '-q', linked);
  assert.equal(installCommitHook(linked, environment), true);
  assert.equal(existsSync(join(path, '.git/hooks/commit-msg')), true);
});
