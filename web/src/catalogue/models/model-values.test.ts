import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { defaultSizes, nameOfId, sizeFaults } from './model-values.ts';

const t = (id: string) => id;

test('proposes the id without the maker as the name of a model', () => {
  assert.equal(nameOfId('meta-llama/llama-4:free'), 'llama-4:free');
  assert.equal(nameOfId('gpt-5'), 'gpt-5');
  assert.equal(nameOfId('odd/'), 'odd/');
  assert.equal(nameOfId('x'.repeat(300)).length, limits.displayNameMax);
});

test('the longest answer must fit into the context window', () => {
  const sizes = { contextWindow: 100, maxOutputTokens: 101, tier: '1' };
  assert.equal(sizeFaults(sizes, t).maxOutputTokens, 'model.maxOutputBad');
  assert.equal(sizeFaults({ ...sizes, maxOutputTokens: 100 }, t).maxOutputTokens, null);
  assert.equal(sizeFaults({ ...sizes, contextWindow: '' }, t).contextWindow, 'form.number');
  assert.equal(sizeFaults({ ...sizes, contextWindow: 1.5 }, t).contextWindow, 'form.number');
});

test('the default tier is the second, or the only one', () => {
  assert.equal(
    defaultSizes([
      { value: 7, label: 'A' },
      { value: 3, label: 'B' },
    ]).tier,
    '3',
  );
  assert.equal(defaultSizes([{ value: 7, label: 'A' }]).tier, '7');
});
