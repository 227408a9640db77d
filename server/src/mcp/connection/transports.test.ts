import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/fakes/manual-clock.ts';
import { mcpBounds } from '../bounds.ts';
import { createReopener } from './transports.ts';

/** The delay after which a stream is opened again, to 10 ms; undefined if it is not. */
function delayOf(asked: number): number | undefined {
  const clock = new ManualClock();
  let isOpen = false;
  createReopener(clock, () => false)(() => {
    isOpen = true;
  }, asked);
  for (let waited = 0; waited <= 60_000; waited += 10) {
    if (isOpen) return waited;
    clock.advance(10);
  }
  return undefined;
}

test('opens an ended stream again after the delay that the server chose, within bounds', () => {
  assert.equal(delayOf(500), 500);
  assert.equal(delayOf(20_000), 20_000);
  assert.equal(delayOf(0), mcpBounds.reopenMinMs);
  assert.equal(delayOf(3_600_000), mcpBounds.reopenMaxMs);
});

test('opens streams again without limit while a call runs, and a limited number of times otherwise', () => {
  let isBusy = true;
  let opened = 0;
  const clock = new ManualClock();
  const reopen = createReopener(clock, () => isBusy);
  const end = () => {
    reopen(() => {
      opened += 1;
    }, 500);
    clock.advance(500);
  };
  for (let ends = 0; ends < 200; ends += 1) end();
  assert.equal(opened, 200);
  isBusy = false;
  for (let ends = 0; ends < 200; ends += 1) end();
  assert.equal(opened, 200 + mcpBounds.reopens);
});
