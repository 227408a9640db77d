import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { createStreamTurns } from './stream-turns.ts';

/** Windows of one browser, each with a running answer, and a clock that the test moves. */
function openWindows(name: string, count: number, locks: LockManager | undefined = navigator.locks) {
  const waits: (() => void)[] = [];
  const pause = (_ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      waits.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const turns = createStreamTurns(locks, name, pause);
  const shown = { open: 0, most: 0, had: new Set<number>(), ended: 0 };
  const leave = new AbortController();
  const run = async (index: number): Promise<void> => {
    while (!leave.signal.aborted)
      await turns(leave.signal, async (turn) => {
        shown.open += 1;
        shown.most = Math.max(shown.most, shown.open);
        shown.had.add(index);
        await new Promise((resolve) => AbortSignal.any([turn, leave.signal]).addEventListener('abort', resolve));
        shown.open -= 1;
      });
  };
  const windows = Array.from({ length: count }, (_, index) => run(index).catch(() => {}));
  const tick = () => waits.splice(0).forEach((resolve) => void resolve());
  const end = () => {
    leave.abort();
    return Promise.all(windows);
  };
  return { shown, tick, end };
}

test('ten windows with running answers hold three streams and take turns', async () => {
  const { shown, tick, end } = openWindows('ten', 10);
  await until(() => shown.open === 3);
  await until(() => {
    tick();
    return shown.had.size === 10;
  });
  assert.equal(shown.most, 3);
  await end();
});

test('a window keeps its stream while no other waits for the place', async () => {
  const { shown, tick, end } = openWindows('three', 3);
  await until(() => shown.open === 3);
  for (let round = 0; round < 5; round += 1) {
    tick();
    await navigator.locks.query();
  }
  assert.deepEqual([shown.open, shown.most], [3, 3]);
  await end();
});

test('windows without locks do not wait', async () => {
  const turns = createStreamTurns(undefined, 'none');
  let open = 0;
  await Promise.all(Array.from({ length: 10 }, () => turns(new AbortController().signal, async () => (open += 1))));
  assert.equal(open, 10);
});

test('a window that is closed while it waits leaves the queue', async () => {
  const { shown, end } = openWindows('leaving', 3);
  await until(() => shown.open === 3);
  const turns = createStreamTurns(navigator.locks, 'leaving');
  const leave = new AbortController();
  const waiting = turns(leave.signal, async () => {});
  leave.abort(new Error('closed'));
  await assert.rejects(waiting, /closed/);
  await end();
});
