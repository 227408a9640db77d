import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Compilable, sql } from 'kysely';
import { bound, type Database, inTransaction, isDatabaseUnavailable, lastly, togetherLastly } from '../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** How statements go to the server: prepared when they are run often, begun and committed with others, and never half. */

const limit = { timeout: 30_000 };
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

test('a statement that is run often is prepared once, and survives a change of its table', limit, async () => {
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

test('within a transaction such a change is an error that may pass, and the next try works', limit, async () => {
  const read = () =>
    inTransaction(db, async (trx) => (await sql`select * from notes where id = ${1}`.execute(trx)).rows);
  for (let time = 0; time < 30; time++) await read();
  await db.pool.query('alter table notes add column another int');
  await assert.rejects(read(), (error) => isDatabaseUnavailable(error));
  assert.deepEqual(await read(), []);
});

test('the last statement is committed with the transaction, and what fails takes back all', limit, async () => {
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

test('a transaction that fails leaves its connection in order', limit, async () => {
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
