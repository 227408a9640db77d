import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffRows } from './diff-rows.ts';

test('pairs removed with added lines, numbers them, and omits long unchanged runs', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const after = lines.with(10, 'new').toSpliced(11, 0, 'more');
  const rows = diffRows(`${lines.join('\n')}\n`, `${after.join('\n')}\n`);
  const line = (number: number, text: string) => ({ number, text });
  const same = (index: number, shift: number) => {
    const text = `line ${index}`;
    return { kind: 'line', before: line(index + 1, text), after: line(index + 1 + shift, text), isSame: true };
  };
  assert.deepEqual(rows, [
    { kind: 'gap', count: 7 },
    ...[7, 8, 9].map((index) => same(index, 0)),
    { kind: 'line', before: line(11, 'line 10'), after: line(11, 'new'), isSame: false },
    { kind: 'line', before: undefined, after: line(12, 'more'), isSame: false },
    ...[11, 12, 13].map((index) => same(index, 1)),
    { kind: 'gap', count: 6 },
  ]);
  assert.deepEqual(diffRows('', 'a\n'), [{ kind: 'line', before: undefined, after: line(1, 'a'), isSame: false }]);
});
