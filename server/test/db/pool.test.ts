import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { isDatabaseUnavailable, mayPass } from '../../src/db/failures.ts';
import { inTransaction, openDatabase, pingDatabase } from '../../src/db/pool.ts';
import { toApiError } from '../../src/http/error-response.ts';
import { createEmptyDatabase, silentLog } from '../database.ts';

const empty = await createEmptyDatabase();
const { database } = empty;
after(() => empty.drop());

async function count(table: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(`select count(*) from ${table}`);
  return rows[0]?.count ?? Number.NaN;
}

test('reads bigint as a number and timestamptz as a date', async () => {
  const { rows } = await database.pool.query(
    `select 9007199254740991 as big, timestamptz '2026-01-02T03:04:05Z' as at`,
  );
  assert.deepEqual(rows, [{ big: 9007199254740991, at: new Date('2026-01-02T03:04:05Z') }]);
});

test('commits a transaction before it resolves, and rolls it back when it throws', async () => {
  await database.pool.query('create table notes (text text)');
  const kept = await inTransaction(database, async (transaction) => {
    await sql`insert into notes values ('kept')`.execute(transaction);
    return 'result';
  });
  assert.equal(kept, 'result');
  assert.equal(await count('notes'), 1);
  const failing = inTransaction(database, async (transaction) => {
    await sql`insert into notes values ('lost')`.execute(transaction);
    throw new Error('changed my mind');
  });
  await assert.rejects(failing, /changed my mind/);
  assert.equal(await count('notes'), 1);
});

test('ends a statement that runs too long', async () => {
  const { rows } = await database.pool.query(`select current_setting('statement_timeout') as statement,
    current_setting('idle_in_transaction_session_timeout') as idle`);
  assert.deepEqual(rows, [{ statement: '10s', idle: '20s' }]);
});

test('cut connections, idle and busy, cost one error each, and the pool recovers', async () => {
  await Promise.all([database.pool.query('select 1'), database.pool.query('select 1')]);
  const busy = database.pool.query('select pg_sleep(30)');
  const outcome = assert.rejects(busy, isDatabaseUnavailable);
  const admin = await database.openClient();
  // Until the sleeping statement is seen, then everything but this connection is cut.
  while (
    (
      await admin.query(`select 1 from pg_stat_activity where query like '%pg_sleep(30)' and state = 'active'
    and pid <> pg_backend_pid() and datname = current_database()`)
    ).rowCount === 0
  );
  await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
  await admin.end();
  await outcome;
  let answer: unknown;
  while (answer === undefined) {
    answer = await database.pool.query('select 1 as one').then(
      ({ rows }) => rows,
      (error) => void assert.ok(isDatabaseUnavailable(error)),
    );
  }
  assert.deepEqual(answer, [{ one: 1 }]);
});

test('reports a server that accepts and never answers as unavailable within the timeout', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  assert.ok(address !== null && typeof address === 'object');
  const away = openDatabase({ connection: `postgres://x@127.0.0.1:${address.port}/x`, log: silentLog });
  await assert.rejects(pingDatabase(away, 200), { code: 'database_unavailable' });
  await assert.rejects(away.pool.query('select 1'), isDatabaseUnavailable);
  for (const socket of sockets) socket.destroy();
  silent.close();
  await assert.rejects(pingDatabase(away, 1_000), { code: 'database_unavailable' });
  await away.close();
});

test('a statement that timed out, or lost a deadlock, can be retried', async () => {
  const slow = inTransaction(database, async (transaction) => {
    await sql`set local statement_timeout = 20`.execute(transaction);
    await sql`select pg_sleep(10)`.execute(transaction);
  });
  await assert.rejects(slow, (error) => mayPass(error) && toApiError(error).code === 'database_unavailable');

  const meet = Promise.withResolvers<void>();
  let here = 0;
  const cross = (first: number, second: number) =>
    inTransaction(database, async (transaction) => {
      await sql`set local deadlock_timeout = '10ms'`.execute(transaction);
      await sql`select pg_advisory_xact_lock(${first})`.execute(transaction);
      here += 1;
      if (here === 2) meet.resolve();
      await meet.promise;
      await sql`select pg_advisory_xact_lock(${second})`.execute(transaction);
    });
  const results = await Promise.allSettled([cross(1, 2), cross(2, 1)]);
  const lost = results.filter((result) => result.status === 'rejected');
  assert.equal(lost.length, 1);
  assert.equal(mayPass(lost[0]?.reason), true);
  assert.equal(toApiError(lost[0]?.reason).status, 503);
});

test('reports a full disk as such', async () => {
  const full = inTransaction(database, async (transaction) => {
    await sql`do $$ begin raise exception 'no room' using errcode = '53100'; end $$`.execute(transaction);
  });
  const error = await full.catch((reason: unknown) => reason);
  assert.equal(mayPass(error), true);
  assert.equal(toApiError(error).status, 507);
});
