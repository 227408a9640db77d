import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, 'browser');
const text = readFileSync(join(folder, 'POINTS.md'), 'utf8');
const rows = text.split('\n').filter((line) => /^\| \d+ \|/.test(line));

test('has a row with existing tests for every point of the client', () => {
  assert.deepEqual(
    rows.map((row) => Number(row.split('|')[1])),
    Array.from({ length: 30 }, (_, index) => index + 1),
  );
  for (const row of rows) {
    const checks = row.split('|')[3] ?? '';
    const named = [...checks.matchAll(/`([\w-]+\/[\w-]+\.spec\.ts)` › ([^;.|]+)/g)];
    assert.ok(named.length > 0 || /`\.\.\/benchmarks|not yet/.test(checks), row);
    for (const [, file = '', title = ''] of named) {
      const source = readFileSync(join(folder, file), 'utf8');
      const isThere = ["test('", 'test(`'].some((start) => source.includes(start + title.trim()));
      assert.ok(isThere, `${file} has no test "${title.trim()}"`);
    }
    for (const [, path = ''] of checks.matchAll(/`(\.\.\/benchmarks\/parts\/[\w-]+\.ts)`/g))
      assert.ok(existsSync(join(folder, path)), path);
  }
});
