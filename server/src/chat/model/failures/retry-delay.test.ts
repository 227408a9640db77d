import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRetryAfter, retryDelayIn, retryTimeIn } from './retry-delay.ts';

test('reads the pause that a refusal asks for', () => {
  const cases: [string, number | undefined][] = [
    ['Please try again in 579ms. Visit', 1],
    ['Please try again in 12.441s.', 13],
    ['Please try again in 9m38.016s. Need more', 579],
    ['Please try again in 1h2m3s', 3723],
    ['Please retry after 26 seconds.', 26],
    ['Please retry in 35.5s.', 36],
    ['Please wait 43210 seconds before retrying.', 43_210],
    ['Try again in 5 minutes', 300],
    ['try again in 2 hours and 10 minutes', 7800],
    ['{"retryDelay": "39s"}', 39],
    ['{"retry_after": 2.5}', 3],
    ['Please try again later.', undefined],
    ['Try again in 5 monkeys', undefined],
    ['', undefined],
  ];
  for (const [text, seconds] of cases) assert.equal(retryDelayIn(text), seconds, text);
});

test('reads retry-after as seconds and as a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  assert.equal(readRetryAfter('3600', now), 3600);
  assert.equal(readRetryAfter('1.5', now), 2);
  assert.equal(readRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', now), 30);
  assert.equal(readRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now), 0);
  assert.equal(readRetryAfter('soon', now), undefined);
  assert.equal(readRetryAfter(undefined, now), undefined);
});

test('reads the time at which an account works again', () => {
  assert.equal(retryTimeIn('You will regain access on 2026-12-01 at 00:00 UTC.'), '2026-12-01T00:00:00.000Z');
  assert.equal(retryTimeIn('Access ended on 2026-12-01.'), undefined);
});
