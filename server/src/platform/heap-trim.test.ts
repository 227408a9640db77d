import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/fakes/manual-clock.ts';
import { fullCollection, trimHeapWhenQuiet } from './heap-trim.ts';

const mebibyte = 1024 ** 2;
const log = { debug: () => undefined };

/** A heap of the given size whose collections take `pauseMs`; `look` moves the clock by ten seconds. */
function watchHeap({ total, used, pauseMs = 20 }: { total: number; used: number; pauseMs?: number }) {
  const clock = new ManualClock();
  const state = { isBusy: false, collected: 0, total, used };
  const heap = {
    read: () => ({ total: state.total * mebibyte, used: state.used * mebibyte }),
    collect: () => {
      state.collected += 1;
      state.total = state.used;
      clock.advance(pauseMs);
    },
  };
  const trim = trimHeapWhenQuiet({ clock, log, isBusy: () => state.isBusy }, heap);
  const look = (times: number) => {
    for (let index = 0; index < times; index += 1) clock.advance(10_000);
  };
  return { state, look, trim, clock };
}

test('collects once after half a minute without an answer', () => {
  const { state, look, trim, clock } = watchHeap({ total: 160, used: 30 });
  look(2);
  assert.equal(state.collected, 0);
  look(1);
  assert.equal(state.collected, 1);
  look(100);
  assert.equal(state.collected, 1, 'there is nothing left to return');
  trim.stop();
  assert.equal(clock.waiting, 0);
});

test('never collects while answers run', () => {
  const { state, look } = watchHeap({ total: 160, used: 30 });
  state.isBusy = true;
  look(100);
  assert.equal(state.collected, 0);
});

test('leaves a heap alone that has little to return or takes long to collect', () => {
  for (const size of [
    { total: 70, used: 30 },
    { total: 400, used: 200 },
  ]) {
    const { state, look } = watchHeap(size);
    look(100);
    assert.equal(state.collected, 0);
  }
});

test('waits an hour after a collection of more than 100 ms', () => {
  const { state, look } = watchHeap({ total: 160, used: 30, pauseMs: 150 });
  look(3);
  assert.equal(state.collected, 1);
  state.total = 160;
  look(350);
  assert.equal(state.collected, 1);
  look(20);
  assert.equal(state.collected, 2);
});

test('a full collection returns the pages of dead objects to the system', () => {
  let kept: unknown[] = [];
  for (let index = 0; index < 1_000_000; index += 1) kept.push({ index, list: [index, index] });
  assert.ok(kept.length > 0);
  const before = process.memoryUsage().heapTotal;
  kept = [];
  fullCollection();
  const after = process.memoryUsage().heapTotal;
  assert.ok(after < before - 16 * mebibyte, `${after} of ${before} bytes`);
});
