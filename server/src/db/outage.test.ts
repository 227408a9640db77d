import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUnavailable } from './failures.ts';
import { Outage } from './outage.ts';

/** An outage with a manual clock and a recorded log. */
function start(answers: boolean[]) {
  const lines: string[] = [];
  let due: (() => void) | undefined;
  let now = 0;
  const clock = {
    now: () => now,
    elapsed: () => now,
    sleep: async () => undefined,
    after: (milliseconds: number, work: () => void) => {
      due = () => {
        now += milliseconds;
        work();
      };
      return { stop: () => (due = undefined), restart: () => undefined };
    },
    every: () => ({ stop: () => undefined, restart: () => undefined }),
  };
  const outage = new Outage(clock);
  const say = (level: string) => (_details: object, message: string) => void lines.push(`${level} ${message}`);
  const probe = async (): Promise<void> => {
    if (answers.shift() !== true) throw new Error('Connection terminated');
  };
  outage.watch({ log: { warn: say('warn'), error: say('error') }, probe });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const next = async (): Promise<void> => {
    due?.();
    await settle();
  };
  return { outage, lines, settle, next, wait: (milliseconds: number) => (now += milliseconds) };
}

const line = { cause: databaseUnavailable() };

test('logs the begin once and the end once, however long it lasts and whatever fails meanwhile', async () => {
  const { outage, lines, settle, next } = start([...Array.from({ length: 500 }, () => false), true]);
  for (let count = 0; count < 500; count += 1) {
    assert.equal(outage.hides(line), true);
    outage.suspect(new Error('Connection terminated'));
    await (count === 0 ? settle() : next());
  }
  await next();
  assert.deepEqual(lines, [
    'error the database is unreachable: requests are answered with 503 until it is back',
    'warn the database is reachable again',
  ]);
});

test('logs a second outage like the first', async () => {
  const { outage, lines, settle, next } = start([false, true, false, true]);
  for (let count = 0; count < 2; count += 1) {
    outage.suspect(new Error('Connection terminated'));
    await settle();
    await next();
  }
  assert.equal(lines.length, 4);
});

test('sums up lost connections at most once a minute while the database answers', async () => {
  const { outage, lines, settle, wait } = start(Array.from({ length: 100 }, () => true));
  for (let count = 0; count < 50; count += 1) {
    outage.suspect(new Error('Connection terminated'));
    await settle();
    wait(2_000);
  }
  assert.equal(lines.length, 2);
});

test('hides only failures of the database, and none once it is stopped', () => {
  const { outage } = start([]);
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const shown = [undefined, 'text', {}, { cause: 'text' }, { cause: refused }, { cause: new Error('other') }];
  for (const details of shown) assert.equal(outage.hides(details), false);
  outage.mark(refused);
  const hidden = [refused, new Error('outer', { cause: refused }), new Error('Connection terminated unexpectedly')];
  for (const cause of hidden) assert.equal(outage.hides({ cause }), true);
  outage.stop();
  assert.equal(outage.hides({ cause: refused }), false);
});
