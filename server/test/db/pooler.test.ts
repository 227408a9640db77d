import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { findPgBouncer, startPgBouncer } from '../../../scripts/test/system-pgbouncer.mjs';
import { migrate } from '../../src/db/migrate.ts';
import { type Database, inTransaction, lacksLimits, openDatabase, type Queryable } from '../../src/db/pool.ts';
import { createEmptyDatabase, silentLog, type TestDatabase } from '../database.ts';

/**
 * PgBouncer in transaction mode: `npm test -- PgBouncer` runs all tests with a database through it. These cases show
 * only with more clients than connections.
 */

const program = findPgBouncer();
const skip = program === undefined && process.env.REQUIRE_PGBOUNCER !== '1' && 'PgBouncer is not installed';
let made: TestDatabase | undefined;
let pooler: Awaited<ReturnType<typeof startPgBouncer>> | undefined;
let pooled: string;

before(async () => {
  if (skip !== false) return;
  made = await createEmptyDatabase();
  await limit(made.database, '0', 'on');
  pooler = await startPgBouncer(program ?? 'pgbouncer', made.url, 2);
  const url = new URL(pooler.url);
  url.pathname = new URL(made.url).pathname;
  pooled = url.href;
});
after(async () => {
  await pooler?.stop();
  await made?.drop();
});

/** Sets the role's limits in this database, regardless of those elsewhere; for connections that are made afterwards. */
async function limit({ pool }: Database, time: string, jit: 'on' | 'off'): Promise<void> {
  const role = `alter role current_user in database ${new URL(made?.url ?? '').pathname.slice(1)}`;
  for (const name of ['statement_timeout', 'idle_in_transaction_session_timeout'])
    await pool.query(`${role} set ${name} = '${time}'`);
  await pool.query(`${role} set jit = ${jit}`);
}

function open() {
  return openDatabase({ connection: pooled, direct: made?.url, max: 20, log: silentLog });
}

test('40 clients share two connections, with prepared statements and transactions', {
  skip,
}, async () => {
  const replicas = [open(), open()] as const;
  const applied = await Promise.all(replicas.map((replica) => migrate(replica)));
  assert.ok(applied.flat().length > 0);
  const [{ pool }] = replicas;
  await pool.query('create table counters (id int primary key, value int not null)');
  await pool.query('insert into counters select n, 0 from generate_series(0, 3) n');
  const add = (trx: Queryable, id: number) => sql`update counters set value = value + 1 where id = ${id}`.execute(trx);
  const work = replicas.flatMap((db, replica) =>
    Array.from({ length: 40 }, async (_, index) => {
      // The same name for another text: each replica's own.
      const statement = { name: 'one', text: `select $1::int + ${replica} as sum`, values: [index] };
      assert.equal((await db.pool.query(statement)).rows[0].sum, index + replica);
      const nobody = db.kysely.selectFrom('users').select('id').where('id', '=', String(index));
      assert.deepEqual(await nobody.execute(), []);
      await inTransaction(db, async (trx) => {
        await add(trx, index % 4);
        await add(trx, index % 4);
      });
    }),
  );
  await Promise.all(work);
  const { rows } = await pool.query('select value from counters order by id');
  assert.deepEqual(
    rows.map(({ value }) => value),
    [40, 40, 40, 40],
  );
  await Promise.all(replicas.map((replica) => replica.close()));
});

test("signals use a connection of their own without a time limit, and the pool has the role's limits", {
  skip,
}, async () => {
  const db = open();
  const listener = await db.openClient();
  const notified = once(listener, 'notification');
  await listener.query('listen homeport');
  await db.pool.query(`select pg_notify('homeport', 'ended:one')`);
  assert.equal((await notified)[0].payload, 'ended:one');
  assert.equal(await lacksLimits(db), true);
  await limit(db, '10s', 'off');
  await listener.end();
  await db.close();
  const limited = openDatabase({ connection: made?.url ?? '', direct: made?.url, log: silentLog });
  assert.equal(await lacksLimits(limited), false);
  const own = await limited.openClient();
  assert.deepEqual((await own.query('show statement_timeout')).rows, [{ statement_timeout: '0' }]);
  await own.end();
  await limited.close();
});
