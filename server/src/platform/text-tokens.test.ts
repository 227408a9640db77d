import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens } from './text-tokens.ts';

test('estimates a long text from a sample that is close to the whole', () => {
  const words = 'The quick brown fox: 42 Größen, \u6771\u4eac {"a": [1, 2]}\n';
  const short = words.repeat(1_000);
  const perCharacter = estimateTokens(short) / short.length;
  const long = words.repeat(200_000);
  const ratio = estimateTokens(long) / (long.length * perCharacter);
  assert.ok(ratio > 0.99 && ratio < 1.01, `${ratio}`);
});

test('counts a dense part in the middle of a long text in proportion', () => {
  const plain = 'a'.repeat(1_000_000);
  const dense = '\u6771'.repeat(1_000_000);
  const all = estimateTokens(plain + dense + plain);
  const parts = 2 * estimateTokens(plain) + estimateTokens(dense);
  assert.ok(Math.abs(all / parts - 1) < 0.05, `${all} of ${parts}`);
});

test('holds up the event loop equally for 1 and 20 million characters', () => {
  const time = (text: string): number => {
    const before = process.threadCpuUsage().user;
    for (let round = 0; round < 20; round += 1) estimateTokens(text);
    return process.threadCpuUsage().user - before;
  };
  time('a'.repeat(1_000_000));
  const [short, long] = [time('a'.repeat(1_000_000)), time('a'.repeat(20_000_000))];
  assert.ok(long < 4 * short + 20_000, `${short} and ${long} µs`);
});
