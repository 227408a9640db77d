import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedMutex } from './keyed-mutex.ts';
import { Semaphore } from './semaphore.ts';

const limit = { timeout: 180_000 };
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('limits concurrent holders, and serves waiters in FIFO order', limit, async () => {
  const slots = new Semaphore(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const runs = [0, 1, 2, 3].map((name) =>
    slots.run(() => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    }),
  );
  await turn();
  assert.deepEqual([begun, slots.isFull, slots.waiting], [[0, 1], true, 2]);
  for (const name of [0, 1, 2, 3]) {
    ends[name]?.();
    await turn();
  }
  await Promise.all(runs);
  assert.deepEqual([begun, slots.isIdle], [[0, 1, 2, 3], true]);
});

test('an aborted waiter loses only its own place in the queue, and a slot is released once', limit, async () => {
  const slots = new Semaphore(1);
  const release = await slots.take();
  const leaving = new AbortController();
  const gone = slots.take(leaving.signal);
  const next = slots.take(new AbortController().signal);
  leaving.abort(new Error('gone'));
  await assert.rejects(gone, /gone/);
  await assert.rejects(slots.take(leaving.signal), /gone/);
  release();
  release();
  const releaseNext = await next;
  assert.deepEqual([slots.isFull, slots.waiting], [true, 0]);
  releaseNext();
  assert.ok(slots.isIdle);
  await assert.rejects(
    slots.run(() => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.ok(slots.isIdle);
});

test('turns: one at a time by key, also after a failure; settled waits for all', limit, async () => {
  const turns = new KeyedMutex<string>();
  const first = Promise.withResolvers<void>();
  const order: string[] = [];
  const failing = turns.take('a', async () => {
    await first.promise;
    order.push('a1');
    throw new Error('broken');
  });
  const second = turns.take('a', async () => void order.push('a2'));
  await turns.take('b', async () => void order.push('b'));
  const settled = turns.settled();
  first.resolve();
  await assert.rejects(failing, /broken/);
  await settled;
  await second;
  assert.deepEqual(order, ['b', 'a1', 'a2']);
});
