import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { PoolClient } from 'pg';
import { createEmptyDatabase } from './database.ts';

/** Named statements ask for their columns once on each connection. */

const empty = await createEmptyDatabase();
const { pool } = empty.database;
after(() => empty.drop());

/** Runs `work` on one connection, with the number of times that columns were asked for. */
async function onOne(work: (client: PoolClient, asked: () => number) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  const { connection } = client;
  const describe = connection.describe.bind(connection);
  let asked = 0;
  Object.assign(connection, {
    describe(...given: Parameters<typeof describe>) {
      asked += 1;
      describe(...given);
    },
  });
  try {
    await work(client, () => asked);
  } finally {
    Object.assign(connection, { describe });
    client.release();
  }
}

test('later runs read the same as the first, and a statement without a name', async () => {
  const text = `select n, n::int8 as big, timestamptz '2026-01-02T03:04:05Z' as at, null::text as none, array[1, 2] as list,
    jsonb_build_object('a', $1::text) as data, true as flag, '' as empty from generate_series(1, 2) n`;
  await onOne(async (client, asked) => {
    const plain = await client.query(text, ['x']);
    assert.equal(asked(), 1);
    for (let run = 0; run < 3; run++) {
      const { command, rowCount, rows } = await client.query({ name: 'same', text, values: ['x'] });
      assert.deepEqual({ command, rowCount, rows }, { command: 'SELECT', rowCount: 2, rows: plain.rows });
      assert.equal(asked(), 2);
    }
  });
});

test('what is written is counted, with rows and without', async () => {
  await pool.query('create table counted (n int)');
  await onOne(async (client, asked) => {
    for (let run = 0; run < 3; run++) {
      const inserted = await client.query({ name: 'in', text: 'insert into counted select generate_series(1, 3)' });
      assert.deepEqual([inserted.command, inserted.rowCount, inserted.rows], ['INSERT', 3, []]);
      const deleted = await client.query({ name: 'out', text: 'delete from counted where n > 1 returning n' });
      assert.deepEqual([deleted.command, deleted.rowCount, deleted.rows], ['DELETE', 2, [{ n: 2 }, { n: 3 }]]);
      await client.query('truncate counted');
    }
    assert.equal(asked(), 2);
  });
});

test('failures reach whoever asked, and nobody else who asks at the same time', async () => {
  const text = 'select 6 / $1::int as result';
  const divide = (client: PoolClient, by: number | string) => client.query({ name: 'divide', text, values: [by] });
  await onOne(async (client) => {
    for (let run = 0; run < 3; run++) {
      const outcomes = await Promise.allSettled([0, 2, 'x', 3].map((by) => divide(client, by)));
      const seen = outcomes.map((each) => (each.status === 'fulfilled' ? each.value.rows[0] : each.reason.code));
      assert.deepEqual(seen, ['22012', { result: 3 }, '22P02', { result: 2 }]);
      const failed = outcomes[0];
      assert.match(failed?.status === 'rejected' ? failed.reason.stack : '', /prepared-query/);
    }
    await assert.rejects(client.query({ name: 'broken', text: 'select nothing from nowhere' }), { code: '42P01' });
    await assert.rejects(client.query({ name: 'broken', text: 'select nothing from nowhere' }), { code: '42P01' });
    assert.deepEqual((await divide(client, 1)).rows, [{ result: 6 }]);
  });
});

test('when a table has changed, no connection reads columns of before', async () => {
  await pool.query('create table changing as select 1 as a, 2 as b');
  const statement = { name: 'everything', text: 'select * from changing' };
  const [old, other] = [await pool.connect(), await pool.connect()];
  try {
    for (let run = 0; run < 2; run++) assert.deepEqual((await old.query(statement)).rows, [{ a: 1, b: 2 }]);
    await pool.query('alter table changing drop column a');
    await pool.query('alter table changing add column c int default 3');
    await assert.rejects(old.query(statement), /cached plan must not change result type/);
    for (let run = 0; run < 2; run++) assert.deepEqual((await other.query(statement)).rows, [{ b: 2, c: 3 }]);
    assert.deepEqual((await old.query({ ...statement, name: 'again' })).rows, [{ b: 2, c: 3 }]);
  } finally {
    old.release();
    other.release();
  }
});

test('the pool runs named statements in the same way, with a callback too', async () => {
  const statement = { name: 'of-the-pool', text: 'select $1::int + 1 as n', values: [1] };
  for (let run = 0; run < 3; run++) assert.deepEqual((await pool.query(statement)).rows, [{ n: 2 }]);
  const rows = await new Promise((resolve, reject) => {
    pool.query(statement, (error, result) => (error ? reject(error) : resolve(result.rows)));
  });
  assert.deepEqual(rows, [{ n: 2 }]);
});
