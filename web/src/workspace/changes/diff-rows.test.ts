import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffRows } from './diff-rows.ts';

test('pairs removed with added lines and omits long unchanged runs', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const after = lines.with(10, 'new').toSpliced(11, 0, 'more');
  const rows = diffRows(`${lines.join('\n')}\n`, `${after.join('\n')}\n`);
  const same = (text: string) => ({ kind: 'line', before: text, after: text, isSame: true });
  assert.deepEqual(rows, [
    { kind: 'gap', count: 7 },
    ...['line 7', 'line 8', 'line 9'].map(same),
    { kind: 'line', before: 'line 10', after: 'new', isSame: false },
    { kind: 'line', before: undefined, after: 'more', isSame: false },
    ...['line 11', 'line 12', 'line 13'].map(same),
    { kind: 'gap', count: 6 },
  ]);
  assert.deepEqual(diffRows('', 'a\n'), [{ kind: 'line', before: undefined, after: 'a', isSame: false }]);
});
