import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { listFiles } from '../source-text.mjs';
import { aloneNames, dependsOnSql, isAlone, longNames, sortTestFiles, sqlNames } from './test-files.mjs';
import { describeMissing } from './test-needs.mjs';

const root = join(import.meta.dirname, '../..');
const files = listFiles(root);
const sorted = sortTestFiles(root, files);
const baseName = (file) => file.slice(file.lastIndexOf('/') + 1);

test('assigns every test file to exactly one part', () => {
  const assigned = Object.values(sorted).flat().sort();
  assert.deepEqual(assigned, files.filter((file) => /\.(test|spec)\.(ts|tsx|mjs)$/.test(file)).sort());
  for (const [kind, list] of Object.entries(sorted)) assert.notEqual(list.length, 0, kind);
});

test('lists only names of test files that exist', () => {
  const names = files.map(baseName);
  for (const name of [...aloneNames, ...longNames]) assert.ok(names.includes(`${name}.test.ts`), name);
  const server = [...sorted.server, ...sorted.long].map(baseName);
  for (const start of sqlNames)
    assert.ok(
      server.some((name) => name.startsWith(start)),
      start,
    );
});

test('finds tests of containers by their engine, in any folder', () => {
  assert.ok(sorted.containers.some((file) => baseName(file) === 'containment.test.ts'));
  assert.ok(sorted.server.some((file) => baseName(file) === 'docker-container.test.ts'));
});

test('runs tests that start and stop processes of the server alone', () => {
  const [own] = sorted.server.filter((file) => baseName(file) === 'own-installation.test.ts');
  assert.equal(isAlone(root, own), true);
  assert.equal(isAlone(root, 'scripts/test/test-files.test.mjs'), false);
  assert.equal(dependsOnSql('server/test/chat/chat-answers.test.ts'), true);
  assert.equal(dependsOnSql('server/test/chat/chat-answer-size.test.ts'), false);
});

test('prints missing programs once, with the way to get them', () => {
  const missing = [{ name: 'PgBouncer', for: 'tests of poolers', get: 'apt install pgbouncer' }];
  const [title, line, ...more] = describeMissing(missing);
  assert.match(title, /skipped/);
  assert.match(line, /PgBouncer +for tests of poolers: apt install pgbouncer$/);
  assert.deepEqual(more, ['']);
  assert.deepEqual(describeMissing([]), []);
});
