import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effortOf, offeredEfforts, withEffort } from './effort.ts';

test('each conversation keeps its own effort, until the default is chosen again', () => {
  const stored = withEffort(withEffort('', 'a', 'high'), 'b', 'none');
  assert.equal(effortOf(stored, 'a'), 'high');
  assert.equal(effortOf(stored, 'b'), 'none');
  assert.equal(effortOf(stored, 'c'), undefined);
  assert.equal(effortOf(withEffort(stored, 'a', 'low'), 'a'), 'low');
  assert.equal(effortOf(withEffort(stored, 'a', undefined), 'a'), undefined);
  assert.equal(withEffort(withEffort('', 'a', 'max'), 'a', undefined), '');
});

test('bounds the stored efforts and ignores damaged items', () => {
  let stored = '';
  for (let at = 0; at < 250; at += 1) stored = withEffort(stored, `chat-${at}`, 'low');
  assert.equal(effortOf(stored, 'chat-49'), undefined);
  assert.equal(effortOf(stored, 'chat-50'), 'low');
  for (const damaged of ['{', 'null', '{"a":"high"}', '[["a","loud"],["a"],7]'])
    assert.equal(effortOf(damaged, 'a'), undefined);
});

test('offers the known efforts of a model in order, or all if unknown', () => {
  assert.deepEqual(offeredEfforts(['high', 'low', 'loud']), ['low', 'high']);
  for (const unknown of [false, undefined, []] as const) assert.equal(offeredEfforts(unknown).length, 7);
});
