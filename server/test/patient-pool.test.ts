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

test('while connections come back, one is opened once somebody has waited long, and the next a second later', async () => {
  await withPool(20, async (pool, clock) => {
    const held = await hold(pool, clock, 3);
    const queue = Array.from({ length: 30 }, () => ask(pool));
    /** How many are held. */
    const serve = () => {
      for (let first = queue[0]; first?.got !== undefined; first = queue[0]) {
        held.push(first.got);
        queue.shift();
      }
      return held.length;
    };
    /** One comes back every 10 ms, and somebody else asks, who waits for 300 ms. */
    const pass = async (times: number) => {
      for (let time = 0; time < times; time++) {
        held.shift()?.release();
        await until('the next in the queue', () => queue[0]?.got !== undefined);
        clock.advance(10);
        await turns();
        serve();
        while (queue.length < 30) queue.push(ask(pool));
      }
      return pool.totalCount;
    };
    assert.equal(await pass(9), 3);
    await pass(1);
    await until('the fourth', () => serve() === 4);
    assert.equal(await pass(90), 4);
    await pass(11);
    await until('the fifth', () => serve() === 5);
    assert.equal(await pass(90), 5);
    while (queue.length > 0 || held.length > 0) {
      held.shift()?.release();
      await turns();
      serve();
    }
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
