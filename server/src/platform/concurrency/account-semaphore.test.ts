import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountSemaphore } from './account-semaphore.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('one account waits for its own work, in order, and never for another account', async () => {
  const slots = new AccountSemaphore(2);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const runs = [
    ...['a1', 'a2', 'a3', 'a4'].map((name) => slots.run('a', work(name))),
    ...['b1'].map((name) => slots.run('b', work(name))),
  ];
  await turn();
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
  ends[0]?.();
  await turn();
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3']);
  for (let index = 1; index < 5; index += 1) {
    ends[index]?.();
    await turn();
  }
  await Promise.all(runs);
});

test('does not start work that was aborted while waiting', async () => {
  const slots = new AccountSemaphore(1);
  const leaving = new AbortController();
  let end: () => void = () => undefined;
  const first = slots.run('a', () => new Promise<void>((resolve) => (end = resolve)));
  const second = slots.run('a', () => assert.fail('it has left'), leaving.signal);
  leaving.abort(new Error('gone'));
  await assert.rejects(second, /gone/);
  end();
  await first;
});
