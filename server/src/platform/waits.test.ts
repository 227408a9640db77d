import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/fakes/manual-clock.ts';
import { systemClock } from './clock.ts';
import { unlessAborted, until, waitAtMost, whenAborted, within } from './waits.ts';

const limit = { timeout: 180_000 };
const never = new Promise<never>(() => undefined);
const tooLate = () => new Error('too late');
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Counts its listeners. */
function watched() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  return { controller, signal, listening: () => listeners };
}

test('work that ends first leaves neither a timer nor a listener behind', limit, async () => {
  const clock = new ManualClock();
  const { signal, listening } = watched();
  assert.equal(await within({ clock, milliseconds: 50, signal, tooLate }, async () => 'done'), 'done');
  assert.equal(await unlessAborted(Promise.resolve('done'), signal), 'done');
  await waitAtMost(clock, 50, Promise.resolve());
  await turn();
  assert.deepEqual([clock.waiting, listening()], [0, 0]);
});

test('within: rejects after the time limit, and aborts the work', limit, async () => {
  const clock = new ManualClock();
  let reason: unknown;
  const waiting = within({ clock, milliseconds: 50, tooLate }, (signal) => {
    signal.addEventListener('abort', () => {
      reason = signal.reason;
    });
    return never;
  });
  clock.advance(49);
  assert.equal(reason, undefined);
  clock.advance(1);
  await assert.rejects(waiting, /too late/);
  assert.match(String(reason), /too late/);
});

test('within: the caller leaves, before or while it waits', limit, async () => {
  const clock = new ManualClock();
  const { controller, signal, listening } = watched();
  const waiting = within({ clock, milliseconds: 50, signal, tooLate }, () => never);
  controller.abort(new Error('gone'));
  await assert.rejects(waiting, /gone/);
  await assert.rejects(
    within({ clock, milliseconds: 50, signal, tooLate }, () => never),
    /gone/,
  );
  assert.equal(clock.waiting, 0);
  assert.ok(listening() <= 0);
});

test('unlessAborted: work gets its time to settle, and the reason of the signal counts', limit, async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const work = Promise.withResolvers<string>();
  const settle = { clock, milliseconds: 50 };
  const settled = unlessAborted(work.promise, controller.signal, settle);
  const stuck = unlessAborted(never, controller.signal, settle);
  const failing = unlessAborted(Promise.reject(new Error('broken')), controller.signal, settle);
  controller.abort(new Error('gone'));
  await assert.rejects(failing, /gone/);
  work.resolve('in time');
  assert.equal(await settled, 'in time');
  clock.advance(50);
  await assert.rejects(stuck, /gone/);
  assert.equal(clock.waiting, 0);
});

test('waitAtMost: resolves late work in time, and rejects as the work does', limit, async () => {
  const clock = new ManualClock();
  const waiting = waitAtMost(clock, 50, never);
  clock.advance(50);
  await waiting;
  await assert.rejects(waitAtMost(clock, 50, Promise.reject(new Error('broken'))), /broken/);
});

test('until: polls with growing pauses and gives up', limit, async () => {
  const clock = new ManualClock();
  const looks: number[] = [];
  const began = clock.elapsed();
  const patience = { clock, patienceMs: 40, firstMs: 5, longestMs: 20 };
  const waiting = until(patience, () => looks.push(clock.elapsed() - began) === 0);
  for (let time = 0; time < 70; time += 5) {
    await turn();
    clock.advance(5);
  }
  assert.equal(await waiting, false);
  assert.deepEqual(looks, [0, 5, 15, 35, 55]);
  assert.equal(await until(patience, () => true), true);
});

test('whenAborted: also when it has been before', limit, async () => {
  const controller = new AbortController();
  const waiting = whenAborted(controller.signal);
  controller.abort();
  await waiting;
  await whenAborted(controller.signal);
});

test('work that comes round while the round before runs is left out', limit, async () => {
  const clock = new ManualClock();
  const round = Promise.withResolvers<void>();
  let begun = 0;
  const timer = clock.every(10, () => {
    begun += 1;
    return round.promise;
  });
  clock.advance(30);
  assert.equal(begun, 1);
  round.resolve();
  await turn();
  clock.advance(10);
  assert.equal(begun, 2);
  timer.stop();
  clock.advance(100);
  assert.equal(begun, 2);
});

test('a stopped timer of the system does not fire, not even when it is restarted', limit, async () => {
  let rings = 0;
  const ring = (): void => {
    rings += 1;
  };
  const timers = [systemClock.after(0, ring), systemClock.every(1, ring)];
  for (const timer of timers) {
    timer.stop();
    timer.restart();
  }
  await systemClock.sleep(5);
  assert.equal(rings, 0);
  await assert.rejects(systemClock.sleep(60_000, AbortSignal.abort(new Error('gone'))), /gone/);
});
