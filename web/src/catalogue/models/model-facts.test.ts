import assert from 'node:assert/strict';
import { test } from 'node:test';
import { priceText, shortCount } from './model-facts.ts';

test('abbreviates counts of tokens', () => {
  const counts = [512, 4_096, 32_768, 128_000, 1_048_576, 2_000_000, 1_500_000];
  assert.deepEqual(counts.map(shortCount), ['512', '4.1k', '33k', '128k', '1M', '2M', '1.5M']);
});

test('parses and formats prices per million tokens', () => {
  const prices = { input: 250_000, output: 1_500_000, cachedInput: null, cacheWrite: null };
  assert.equal(priceText(prices, 'en'), '$0.25 / $1.50');
  assert.equal(priceText({ ...prices, input: 0, output: 37_500 }, 'en'), '$0.00 / $0.038');
  assert.equal(priceText({ ...prices, input: null }, 'en'), '? / $1.50');
  assert.equal(priceText({ ...prices, input: null, output: null }, 'en'), undefined);
});
