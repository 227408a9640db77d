import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GrowingBlocks, parseBlocks } from './blocks.ts';
import { settleTail } from './tail.ts';

const word = fc.constantFrom('a', 'word', '*b*', '`c`', '\\|', '1', '$x$');
const rule = fc.constantFrom('---', ':--', '--:', ':-:', ':------------------');
const table = fc.integer({ min: 1, max: 5 }).chain((columns) => {
  const row = fc.array(word, { minLength: columns, maxLength: columns });
  const rules = fc.array(rule, { minLength: columns, maxLength: columns });
  const line = (cells: string[]) => `| ${cells.join(' | ')} |\n`;
  return fc
    .tuple(row, rules, fc.array(row, { maxLength: 3 }))
    .map(([head, marks, rows]) => `${line(head)}|${marks.join('|')}|\n${rows.map(line).join('')}`);
});
const list = fc
  .array(fc.tuple(fc.constantFrom('- ', '1. ', '  - ', '* [ ] '), word), { minLength: 1, maxLength: 6 })
  .map((items) => items.map((item) => `${item.join('')}\n`).join(''));
const fence = fc
  .tuple(fc.constantFrom('```', '~~~', '````ts'), fc.array(word, { maxLength: 4 }))
  .map(([mark, lines]) => `${mark}\n${lines.join('\n')}\n${mark.replace('ts', '')}\n`);
const formula = fc.constantFrom('$$\na = b\n$$\n', '\\[ x \\]\n', 'a $x^2$ b\n', '\\( y \\)\n');

test('tables, lists, fences and formulas stream character by character to the tree of the whole text', () => {
  fc.assert(
    fc.property(fc.oneof(table, list, fence, formula), (text) => {
      const growing = new GrowingBlocks();
      for (let length = 1; length <= text.length; length += 1) {
        const { tokens } = growing.update(text.slice(0, length), false);
        const raw = tokens.at(-1)?.raw ?? '';
        assert.ok(settleTail(raw).length <= raw.length * 2 + 16);
      }
      assert.deepEqual(growing.update(text, true).tokens, parseBlocks(text).tokens);
    }),
    { numRuns: 500 },
  );
});
