import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestLanes } from './test-lanes.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('limits the concurrent work of one owner in FIFO order without delaying other owners', async () => {
  const lanes = new TestLanes(2);
  const started: string[] = [];
  const finish = new Map<string, () => void>();
  const begin = (owner: string, name: string) =>
    lanes.run(owner, never, () => {
      started.push(name);
      return new Promise<void>((resolve) => finish.set(name, resolve));
    });
  const all = [begin('a', 'a1'), begin('a', 'a2'), begin('a', 'a3'), begin('a', 'a4'), begin('b', 'b1')];
  await settled();
  assert.deepEqual(started, ['a1', 'a2', 'b1']);
  finish.get('a2')?.();
  await settled();
  assert.deepEqual(started, ['a1', 'a2', 'b1', 'a3']);
  for (const name of ['a1', 'a3', 'b1']) finish.get(name)?.();
  await settled();
  finish.get('a4')?.();
  await Promise.all(all);
  assert.equal(started.length, 5);
});

test('leaves the queue on an abort, and frees the lane after a failure', async () => {
  const lanes = new TestLanes(1);
  const held = Promise.withResolvers<void>();
  const first = lanes.run('a', never, () => held.promise);
  const impatient = new AbortController();
  const second = lanes.run('a', impatient.signal, () => assert.fail('It had given up'));
  const third = lanes.run('a', never, () => Promise.resolve('third'));
  impatient.abort(new Error('gave up'));
  await assert.rejects(second, /gave up/);
  held.reject(new Error('broken'));
  await assert.rejects(first, /broken/);
  assert.equal(await third, 'third');
  await assert.rejects(
    lanes.run('a', AbortSignal.abort(), () => Promise.resolve()),
    { name: 'AbortError' },
  );
});

test('removes only the aborted waiter when it is aborted as its lane becomes free', async () => {
  const lanes = new TestLanes(1);
  const late = new AbortController();
  const held = Promise.withResolvers<void>();
  const first = lanes.run('a', never, () => held.promise);
  const second = lanes.run('a', late.signal, () => Promise.resolve('second'));
  const third = lanes.run('a', never, () => Promise.resolve('third'));
  await settled();
  // Runs between the end of the first and the beginning of the second.
  const abort = held.promise.then(() => late.abort());
  held.resolve();
  await Promise.allSettled([first, second, abort]);
  assert.equal(await third, 'third');
});
