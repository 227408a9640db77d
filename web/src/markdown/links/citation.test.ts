import assert from 'node:assert/strict';
import { test } from 'node:test';
import { citedTexts } from './citation.ts';

test('distinguishes a cited page from other brackets', () => {
  assert.deepEqual(citedTexts('Rent is due on the third [plan.pdf, page 3].'), [
    'Rent is due on the third ',
    { raw: '[plan.pdf, page 3]', name: 'plan.pdf', at: 'page 3' },
    '.',
  ]);
  assert.deepEqual(citedTexts('[a, b.xlsx, sheet Budget, rows 1–80][x.md, 12]'), [
    { raw: '[a, b.xlsx, sheet Budget, rows 1–80]', name: 'a, b.xlsx', at: 'sheet Budget, rows 1–80' },
    { raw: '[x.md, 12]', name: 'x.md', at: '12' },
  ]);
  for (const plain of ['[1, 2]', 'a[i.x, j]', '[note]', '[plan.pdf]', '[see\nplan.pdf, page 3]']) {
    assert.deepEqual(citedTexts(plain), [plain]);
  }
});

test('scans a hostile text in linear time', () => {
  const hostile = '[a.b, page '.repeat(4_500);
  const before = process.cpuUsage().user;
  citedTexts(hostile);
  assert.ok(process.cpuUsage(undefined).user - before < 500_000);
});
