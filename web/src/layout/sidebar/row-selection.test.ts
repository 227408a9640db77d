import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extendTo, noSelection, toggleRow } from './row-selection.ts';

const order = ['a', 'b', 'c', 'd', 'e'];

test('selects and deselects rows, and leaves selection mode with the last one', () => {
  const one = toggleRow(noSelection, 'b');
  assert.deepEqual([...one.ids], ['b']);
  assert.equal(one.isActive, true);
  assert.equal(toggleRow(one, 'b').isActive, false);
});

test('selects a range in both directions from the anchor and keeps the selection', () => {
  const start = toggleRow(toggleRow(noSelection, 'e'), 'c');
  assert.deepEqual([...extendTo(start, 'a', order).ids].sort(), ['a', 'b', 'c', 'e']);
  const down = extendTo(toggleRow(noSelection, 'b'), 'd', order);
  assert.deepEqual([...down.ids], ['b', 'c', 'd']);
  assert.deepEqual([...extendTo(down, 'a', order).ids].sort(), ['a', 'b', 'c', 'd']);
});

test('selects only the row if the anchor is not in the list', () => {
  assert.deepEqual([...extendTo(noSelection, 'c', order).ids], ['c']);
  assert.deepEqual([...extendTo({ ...noSelection, anchor: 'gone' }, 'c', order).ids], ['c']);
  assert.equal(extendTo(noSelection, 'gone', order), noSelection);
});
