import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runTestFiles } from './test-pool.mjs';

const folder = mkdtempSync(join(tmpdir(), 'homeport-pool-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const sources = {
  good: "test('passes', () => {}); describe('group', () => { test('passes', () => {}); test.skip('waits', () => {}); });",
  wrong: "test('fails', () => { throw new Error('wrong'); }); test('passes', () => {});",
  broken: "throw new Error('not loadable');",
  late: "test('leaves a timer', () => { setTimeout(() => { throw new Error('late'); }, 1); return new Promise(() => {}); });",
};

async function runFiles(...names) {
  const files = names.map((name) => {
    const file = join(folder, `${name}.test.mjs`);
    writeFileSync(file, `import { describe, test } from 'node:test';\n${sources[name]}\n`);
    return file;
  });
  const lines = [];
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const options = {
    concurrency: 1,
    env,
    fileTimeoutMs: 60_000,
    isAlone: () => false,
    stdio: 'ignore',
    print: (line) => lines.push(line),
  };
  const { counts, seconds, failed } = await runTestFiles(files, options);
  const named = Object.fromEntries(names.map((name, index) => [name, counts[files[index]]]));
  return {
    counts: named,
    measured: Object.keys(seconds).length,
    lines,
    failed: failed.map((file) => names[files.indexOf(file)]),
  };
}

test('counts passed, failed and skipped tests of each file of a shared process', async () => {
  const { counts, measured, failed } = await runFiles('good', 'wrong');
  assert.deepEqual(counts.good, { tests: 3, passed: 2, failed: 0, skipped: 1 });
  assert.deepEqual(counts.wrong, { tests: 2, passed: 1, failed: 1, skipped: 0 });
  assert.deepEqual([measured, failed], [2, ['wrong']]);
});

test('fails a file that cannot be loaded', async () => {
  const { counts, failed } = await runFiles('broken', 'good');
  assert.equal(counts.broken.failed, 1);
  assert.deepEqual(failed, ['broken']);
});

test('fails a file whose timer throws, and runs the next file in a new process', async () => {
  const { counts, failed, lines } = await runFiles('late', 'good');
  assert.match(lines.join(), /late\.test\.mjs: its process ended with code 1/);
  assert.deepEqual(failed, ['late']);
  assert.equal(counts.good.passed, 2);
});
