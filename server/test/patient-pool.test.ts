import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Client, type PoolClient } from 'pg';
import { until } from '../../contracts/test/until.ts';
import { PatientPool } from '../src/db/patient-pool.ts';
import { createEmptyDatabase, type TestDatabase } from './database.ts';
import { ManualClock } from './fakes/manual-clock.ts';

/** When a pool opens another connection, and when it waits for one of those it has. */

let place: TestDatabase;
before(async () => {
  place = await createEmptyDatabase();
});
after(() => place.drop());

async function withPool(max: number, work: (pool: PatientPool, clock: ManualClock) => Promise<void>): Promise<void> {
  const clock = new ManualClock();
  const pool = new PatientPool({ connectionString: place.url, max, Client }, clock);
  // Those that a failed test keeps go with the database.
  pool.on('error', () => undefined);
  await work(pool, clock);
  await pool.end();
}

/** Connections that somebody keeps, and has kept for a while. */
async function hold(pool: PatientPool, clock: ManualClock, count: number): Promise<PoolClient[]> {
  const held = await Promise.all(Array.from({ length: count }, () => pool.connect()));
  for (const client of held) client.on('error', () => undefined);
  clock.advance(1_000);
  return held;
}

/** Asks for one; `got` is there once it came. */
function ask(pool: PatientPool): { got: PoolClient | undefined } {
  const asked: { got: PoolClient | undefined } = { got: undefined };
  void pool.connect().then((client) => {
    asked.got = client;
  });
  return asked;
}

async function turns(): Promise<void> {
  for (let count = 0; count < 20; count++) await turn();
}

test('however many ask at once, three connections do the work', async () => {
  await withPool(20, async (pool) => {
    const results = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => (await pool.query('select $1::int as n', [index])).rows[0]?.n),
    );
    assert.deepEqual(
      results,
      Array.from({ length: 60 }, (_, index) => index),
    );
    assert.equal(pool.totalCount, 3);
  });
});

test('behind three that take their time, another is opened after a moment, and used as long as they do', async () => {
  await withPool(20, async (pool, clock) => {
    const held = await hold(pool, clock, 3);
    const fourth = ask(pool);
    clock.advance(9);
    await turns();
    assert.deepEqual([fourth.got, pool.totalCount], [undefined, 3]);
    clock.advance(1);
    await until('the fourth', () => fourth.got !== undefined);
    assert.equal(pool.totalCount, 4);
    fourth.got?.release();
    const again = ask(pool);
    await turns();
    assert.equal(again.got, undefined, 'it waits for the three first');
    clock.advance(10);
    await until('the same', () => again.got !== undefined);
    assert.equal(pool.totalCount, 4);
    for (const client of [...held, again.got]) client?.release();
  });
});

test('one is opened after the other, with a pause; a connection that becomes free goes to whoever came first', async () => {
  await withPool(20, async (pool, clock) => {
    const [first, ...held] = await hold(pool, clock, 3);
    const asked = [ask(pool), ask(pool), ask(pool)];
    const got = () => asked.map((each) => each.got !== undefined);
    clock.advance(10);
    await until('the first of them', () => asked[0]?.got !== undefined);
    clock.advance(40);
    await turns();
    assert.deepEqual(got(), [true, false, false]);
    first?.release();
    await until('the second', () => asked[1]?.got !== undefined);
    clock.advance(40);
    await turns();
    assert.deepEqual([got(), pool.totalCount], [[true, true, false], 4]);
    clock.advance(10);
    await until('the third', () => asked[2]?.got !== undefined);
    assert.equal(pool.totalCount, 5);
    for (const client of [...held, ...asked.map((each) => each.got)]) client?.release();
  });
});

test('while none comes back, each further one is opened after a pause twice as long', async () => {
  await withPool(20, async (pool, clock) => {
    const held = await hold(pool, clock, 3);
    const asked = [ask(pool), ask(pool), ask(pool)];
    clock.advance(10);
    await until('the first', () => asked[0]?.got !== undefined);
    for (const [index, pause] of [100, 200].entries()) {
      clock.advance(pause - 10);
      await turns();
      assert.equal(pool.totalCount, 4 + index);
      clock.advance(10);
      await until('the next', () => asked[index + 1]?.got !== undefined);
      assert.equal(pool.totalCount, 5 + index);
    }
    for (const client of [...held, ...asked.map((each) => each.got)]) client?.release();
  });
});

test('as long as connections come back, another is opened only once somebody has waited long', async () => {
  await withPool(20, async (pool, clock) => {
    const held = await hold(pool, clock, 3);
    const asked = Array.from({ length: 11 }, () => ask(pool));
    const returnOne = async (next: { got: PoolClient | undefined } | undefined) => {
      held.shift()?.release();
      await until('the next in the queue', () => next?.got !== undefined);
      if (next?.got !== undefined) held.push(next.got);
      clock.advance(10);
      await turns();
    };
    for (const next of asked.slice(0, 9)) await returnOne(next);
    assert.deepEqual([pool.totalCount, asked[10]?.got], [3, undefined]);
    await returnOne(asked[9]);
    await until('one more', () => asked[10]?.got !== undefined);
    assert.equal(pool.totalCount, 4);
    for (const client of [...held, asked[10]?.got]) client?.release();
  });
});

test('no more are opened than allowed, and who waits for them is refused after the time for it', async () => {
  await withPool(2, async (pool, clock) => {
    const held = await hold(pool, clock, 2);
    pool.options.connectionTimeoutMillis = 20;
    const refused = assert.rejects(pool.connect(), /timeout exceeded/);
    clock.advance(1_000);
    await refused;
    assert.equal(pool.totalCount, 2);
    for (const client of held) client.release();
  });
});

test('where the server is gone, everybody hears it, and all goes on when it is back', async () => {
  await withPool(20, async (pool, clock) => {
    const held = await hold(pool, clock, 3);
    const address = { ...pool.options };
    Object.assign(pool.options, { connectionString: undefined, host: '127.0.0.1', port: 1 });
    const asked = Array.from({ length: 3 }, () => assert.rejects(pool.connect(), /ECONNREFUSED/));
    clock.advance(10);
    await turns();
    for (const client of held) client.release(true);
    await until('the three to be gone', () => pool.totalCount === 0);
    clock.advance(1_000);
    await Promise.all(asked);
    Object.assign(pool.options, address);
    assert.equal((await pool.query('select 1 as one')).rows[0]?.one, 1);
  });
});

test('a pool that ends refuses all who wait, however many they are', async () => {
  const clock = new ManualClock();
  const pool = new PatientPool({ connectionString: place.url, max: 20, Client }, clock);
  const held = await hold(pool, clock, 3);
  const asked = Array.from({ length: 20_000 }, () => assert.rejects(pool.connect(), /after calling end/));
  const ended = pool.end();
  for (const client of held) client.release();
  await Promise.all([...asked, ended]);
});
