import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Compilable, sql } from 'kysely';
import { isDatabaseUnavailable, mayPass } from '../../src/db/failures.ts';
import {
  bound,
  type Database,
  inTransaction,
  lastly,
  openDatabase,
  together,
  togetherLastly,
} from '../../src/db/pool.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../database.ts';

/**
 * How statements are sent to the server: prepared when they run often, begun and committed with others, and never half.
 */

const unprepared = 'behind a pooler nothing is prepared';
let place: TestDatabase;
let db: Database;
before(async () => {
  place = await createTestDatabase();
  db = place.database;
  await db.pool.query('create table notes (id int primary key, said text)');
});
after(() => place.drop());

const insert = (id: number): Compilable<{ id: number }> =>
  bound(db.kysely, sql<{ id: number }>`insert into notes (id, said) values (${id}, 'x') returning id`);
const readAll = () => sql<Record<string, unknown>>`select * from notes order by id`.execute(db.kysely);
const count = async (): Promise<number> => (await readAll()).rows.length;

async function prepared(): Promise<string[]> {
  const { rows } = await db.pool.query<{ statement: string }>('select statement from pg_prepared_statements');
  return rows.map(({ statement }) => statement);
}

test('prepares a frequent statement once, and it survives a change of its table', async (t) => {
  if (place.address.direct !== undefined) return t.skip(unprepared);
  for (let time = 0; time < 30; time++) await readAll();
  assert.ok((await prepared()).some((text) => text.includes('select * from notes')));
  await db.pool.query('alter table notes add column more int');
  assert.ok(
    Object.hasOwn(
      (await sql`insert into notes (id) values (1000) returning *`.execute(db.kysely)).rows[0] ?? {},
      'more',
    ),
  );
  assert.ok(Object.hasOwn((await readAll()).rows[0] ?? {}, 'more'), 'run again at once');
  await db.pool.query('delete from notes');
});

test('a table change within a transaction is a transient error, and the next attempt works', async (t) => {
  if (place.address.direct !== undefined) return t.skip(unprepared);
  const read = () =>
    inTransaction(db, async (trx) => (await sql`select * from notes where id = ${1}`.execute(trx)).rows);
  for (let time = 0; time < 30; time++) await read();
  await db.pool.query('alter table notes add column another int');
  await assert.rejects(read(), (error) => isDatabaseUnavailable(error));
  assert.deepEqual(await read(), []);
});

test('commits the last statement with the transaction, and a failing one rolls back all', async () => {
  await inTransaction(db, async (trx) => {
    await trx.executeQuery(insert(1).compile());
    assert.deepEqual(await lastly(trx, insert(2)), [{ id: 2 }]);
    assert.equal(await count(), 2, 'others see it');
    await assert.rejects(lastly(trx, insert(3)), /has ended/);
  });
  await assert.rejects(
    inTransaction(db, async (trx) => {
      await trx.executeQuery(insert(4).compile());
      await lastly(trx, insert(1));
    }),
    /duplicate key/,
  );
  await assert.rejects(
    inTransaction(db, (trx) => togetherLastly(trx, [insert(1), insert(5)])),
    /duplicate key/,
  );
  await assert.rejects(
    inTransaction(db, (trx) => togetherLastly(trx, [insert(6), insert(1)])),
    /duplicate key/,
  );
  assert.equal(await count(), 2);
});

test('a failed transaction leaves its connection usable', async () => {
  const failing = () =>
    inTransaction(db, async (trx) => {
      await trx.executeQuery(insert(7).compile());
      throw new Error('on purpose');
    });
  for (let time = 0; time < 30; time++) await assert.rejects(failing(), /on purpose/);
  await assert.rejects(
    inTransaction(db, () => Promise.reject(new Error('nothing was asked'))),
    /nothing was asked/,
  );
  assert.equal(await count(), 2);
  await Promise.all(
    Array.from({ length: 30 }, (_, index) => inTransaction(db, (trx) => lastly(trx, insert(100 + index)))),
  );
  assert.equal(await count(), 32);
});

test('a connection lost within a transaction rolls back all of it, and the next one works', async () => {
  const before = await count();
  const losing = inTransaction(db, async (trx) => {
    await trx.executeQuery(insert(200).compile());
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    await db.pool.query('select pg_terminate_backend($1, 10000)', [rows[0]?.pid]);
    await lastly(trx, insert(201));
  });
  await assert.rejects(losing, (error) => isDatabaseUnavailable(error));
  const losingAtCommit = inTransaction(db, (trx) => {
    const leaving = bound(trx, sql`select pg_terminate_backend(pg_backend_pid())`);
    return togetherLastly(trx, [insert(202), leaving]);
  });
  await assert.rejects(losingAtCommit, (error) => isDatabaseUnavailable(error));
  assert.equal(await count(), before);
  await inTransaction(db, (trx) => lastly(trx, insert(203)));
  assert.equal(await count(), before + 1);
});

test('a canceled statement takes those sent behind it along, and its connection stays usable', async () => {
  const before = await count();
  const single = openDatabase({ connection: place.url, max: 1, log: silentLog });
  try {
    const cut = inTransaction(single, async (trx) => {
      await sql`set local statement_timeout = 50`.execute(trx);
      await togetherLastly(trx, [bound(trx, sql`select pg_sleep(60)`), insert(204)]);
    });
    await assert.rejects(cut, (error) => mayPass(error));
    await inTransaction(single, (trx) => lastly(trx, insert(205)));
  } finally {
    await single.close();
  }
  assert.equal(await count(), before + 1);
});

test('a large result and the statements sent behind it each reach their own caller', async () => {
  const [large, small] = await inTransaction(db, (trx) =>
    together(trx, [
      bound(trx, sql<{ text: string }>`select repeat('x', 1000) as text from generate_series(1, 20000)`),
      bound(trx, sql<{ one: number }>`select 1 as one`),
    ]),
  );
  assert.equal(large.length, 20_000);
  assert.ok(large.every(({ text }) => text.length === 1_000));
  assert.deepEqual(small, [{ one: 1 }]);
});

test('a write does not wait for the reads that were requested with it', async () => {
  const holder = await db.openClient();
  try {
    await holder.query('begin; lock table notes');
    const read = count();
    await sql`create temporary table beside (id int)`.execute(db.kysely);
    await holder.query('commit');
    assert.ok((await read) > 0);
  } finally {
    await holder.end();
  }
});

test('sends statements without names once a pooler has dropped prepared ones', async () => {
  const single = openDatabase({ connection: place.url, max: 1, log: silentLog });
  const read = async () => (await sql`select id from notes where id = ${1}`.execute(single.kysely)).rows;
  const names = async () => (await single.pool.query('select name from pg_prepared_statements')).rowCount;
  try {
    for (let time = 0; time < 30; time++) await read();
    assert.equal(await names(), 1);
    await single.pool.query('deallocate all');
    for (let time = 0; time < 30; time++) assert.deepEqual(await read(), [{ id: 1 }]);
    assert.equal(await names(), 0);
  } finally {
    await single.close();
  }
});
