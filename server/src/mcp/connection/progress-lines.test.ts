import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/fakes/manual-clock.ts';
import { mcpBounds } from '../bounds.ts';
import { logLine, progressLine, throttleLines } from './progress-lines.ts';

test('formats progress and message as one short line', () => {
  assert.equal(progressLine({ progress: 3, total: 10 }), '3/10');
  assert.equal(progressLine({ progress: 3, total: 10, message: 'reading' }), '3/10 · reading');
  assert.equal(progressLine({ progress: 3, message: 'reading' }), 'reading');
  assert.equal(progressLine({ progress: 3 }), '3');
  const odd = progressLine({ progress: 1, message: `a\n\u202eb\u0000${'x'.repeat(1_000_000)}` });
  assert.ok(odd.startsWith('a b') && odd.length <= mcpBounds.progressText && odd.isWellFormed(), odd.slice(0, 20));
  assert.equal(logLine({ level: 'info', data: 'two\nlines' }), 'two lines');
  assert.equal(logLine({ level: 'warning', data: { n: 1 } }), '{"n":1}');
  assert.equal(logLine({ level: 'debug', data: 'x' }), undefined);
  assert.equal(logLine(null), undefined);
});

test('shows the first of many lines, then the newest, at most one a second and none after the end', () => {
  const clock = new ManualClock();
  const shown: string[] = [];
  const progress = throttleLines(clock, (line) => shown.push(line));
  for (let n = 0; n < 1000; n += 1) progress.push(`${n}`);
  assert.deepEqual(shown, ['0']);
  clock.advance(mcpBounds.progressMs);
  assert.deepEqual(shown, ['0', '999']);
  clock.advance(mcpBounds.progressMs * 3);
  progress.push('later');
  assert.deepEqual(shown, ['0', '999', 'later']);
  progress.push('never');
  progress.end();
  clock.advance(mcpBounds.progressMs * 3);
  assert.deepEqual(shown, ['0', '999', 'later']);
});
