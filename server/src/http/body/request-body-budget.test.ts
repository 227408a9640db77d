import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { RequestBodyBudget } from './request-body-budget.ts';

const bounds = { totalBytes: 100, senderBytes: 60, freeBytes: 5, waitMs: 60_000, waiting: 3 };
const request = () => new IncomingMessage(new Socket());

/** Whether a promise has settled, after every turn that was due. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.catch((reason: unknown) => reason);
  return error instanceof ApiError ? [error.code, error.retryAfter] : error;
}

test('limits the share of one account', async () => {
  const budget = new RequestBodyBudget(bounds);
  const first = await budget.take('greedy', 60, request());
  const second = budget.take('greedy', 10, request());
  assert.equal(await isSettled(second), false);
  const other = await budget.take('other', 40, request());
  assert.equal(budget.used, 100);
  first();
  first();
  (await second)();
  other();
  assert.equal(budget.used, 0);
});

test('admits a large body before small ones that came later', async () => {
  const budget = new RequestBodyBudget(bounds);
  const held = [await budget.take('a', 50, request()), await budget.take('b', 40, request())];
  const large = budget.take('c', 60, request());
  const small = budget.take('d', 10, request());
  assert.deepEqual([await isSettled(large), await isSettled(small)], [false, false]);
  held[0]?.();
  (await large)();
  (await small)();
  held[1]?.();
  assert.equal(budget.used, 0);
});

test('rejects a request that finds no room in time, with the seconds to wait', { timeout: 180_000 }, async () => {
  const budget = new RequestBodyBudget({ ...bounds, waitMs: 10 });
  const held = await budget.take('a', 60, request());
  assert.deepEqual(await codeOf(budget.take('a', 10, request())), ['rate_limited', 5]);
  held();
  (await budget.take('a', 10, request()))();
  assert.equal(budget.used, 0);
});

test('bounds the number of waiting requests and removes one that disconnects', async () => {
  const budget = new RequestBodyBudget(bounds);
  const held = await budget.take('a', 60, request());
  const leaving = request();
  const waiting = [leaving, request(), request()].map((incoming) => budget.take('a', 10, incoming));
  assert.deepEqual(await codeOf(budget.take('a', 10, request())), ['rate_limited', 5]);
  leaving.emit('close');
  assert.deepEqual(await codeOf(waiting[0] ?? Promise.resolve()), ['invalid_request', undefined]);
  assert.equal(EventEmitter.listenerCount(leaving, 'close'), 0);
  held();
  for (const turn of waiting.slice(1)) (await turn)();
  assert.equal(budget.used, 0);
});

test('admits small bodies without room', async () => {
  const budget = new RequestBodyBudget(bounds);
  const held = [await budget.take('a', 60, request()), await budget.take('b', 40, request())];
  (await budget.take('c', 5, request()))();
  for (const release of held) release();
  assert.equal(budget.used, 0);
});
