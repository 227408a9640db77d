import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../../../contracts/test/until.ts';
import { listMigrations, migrate, migrateWithin } from '../../src/db/migrate.ts';
import { type Database, openDatabase } from '../../src/db/pool.ts';
import { createEmptyDatabase, createTestDatabase, silentLog, type TestDatabase } from '../database.ts';

/**
 * kill -9 in the middle of a migration, at a random statement, while two replicas wait to start. From the newest
 * migration to the oldest; MIGRATION_KILLS=40 kills more often.
 */

const kills = Number(process.env.MIGRATION_KILLS ?? 3);
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const blockLock = 4_711;
const names = await listMigrations();
let clean: string[];
before(async () => {
  const whole = await createTestDatabase();
  clean = await schemaOf(whole.database);
  await whole.drop();
});
const made: TestDatabase[] = [];
after(() => Promise.all(made.map((one) => one.drop())));

function random(state: number): () => number {
  let value = state;
  return () => {
    value = (Math.imul(value, 1_103_515_245) + 12_345) & 0x7fffffff;
    return value / 0x7fffffff;
  };
}

const next = random(seed);
for (let kill = 0; kill < kills; kill += 1) {
  const name = names.at(-1 - (kill % names.length)) ?? '';
  test(`completes ${name} after kill ${kill + 1} at the next start, and only once (seed ${seed})`, () =>
    killedIn(name));
}

/** Tables, columns, indexes, constraints and functions, as text; not the rows. */
async function schemaOf(db: Pick<Database, 'pool'>): Promise<string[]> {
  const { rows } = await db.pool.query<{ line: string }>(`
    select format('%s.%s %s %s %s %s', table_name, column_name, data_type, is_nullable, column_default, generation_expression)
      as line from information_schema.columns where table_schema = 'public'
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace
    union all select tgrelid::regclass || ' ' || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace and prokind <> 'a'
    union all select name from kysely_migration
    union all select relname || ' ' || array_to_string(reloptions, ',') from pg_class
      where relnamespace = 'public'::regnamespace and reloptions is not null
    order by 1`);
  return rows.map(({ line }) => line);
}

/** Every statement that changes the schema is counted; the chosen one waits while a lock is held. */
const watching = `
  create schema block; create sequence block.statements; create sequence block.waits_at maxvalue 1000000;
  create function block.wait() returns event_trigger language plpgsql as $$ begin
    if nextval('block.statements') = (select last_value from block.waits_at where is_called) then
      perform pg_advisory_xact_lock_shared(${blockLock});
    end if;
  end $$;
  create event trigger block on ddl_command_end execute function block.wait();`;

async function killedIn(name: string): Promise<void> {
  const one = await createEmptyDatabase();
  made.push(one);
  const { database, url } = one;
  const earlier = names.slice(0, names.indexOf(name));
  const parent = await database.openClient();
  try {
    await migrateWithin(parent, earlier);
    await parent.query(watching);
    const text = await readFile(new URL(`../../src/db/migrations/${name}.sql`, import.meta.url), 'utf8');
    await parent.query('begin');
    await parent.query(text);
    await parent.query('rollback');
    // A sequence keeps counting through a rollback.
    const { rows } = await parent.query('select nextval($1)::int - 1 as count', ['block.statements']);
    assert.ok(rows[0].count > 0, `${name} changes nothing of the schema`);
    const statement = 1 + Math.floor(next() * rows[0].count);
    await parent.query(
      `select setval('block.statements', 1, false), setval('block.waits_at', $1),
      pg_advisory_lock(${blockLock})`,
      [statement],
    );
    const child = spawn(process.execPath, [fileURLToPath(new URL('./migrate-process.ts', import.meta.url))], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, DATABASE_URL: url },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const isWaiting = async () => {
      assert.equal(child.exitCode, null, 'it ended before it was killed');
      const { rowCount } = await parent.query(
        `select 1 from pg_locks where locktype = 'advisory' and objid = ${blockLock} and not granted
         and database = (select oid from pg_database where datname = current_database())`,
      );
      return rowCount === 1;
    };
    await until('it is in the middle', isWaiting);
    child.kill('SIGKILL');
    assert.equal((await once(child, 'exit'))[1], 'SIGKILL');
    const replicas = [0, 1].map(() => openDatabase({ connection: url, max: 2, log: silentLog }));
    const applied = replicas.map((replica) => migrate(replica));
    const { rows: there } = await database.pool.query('select name from kysely_migration order by 1');
    assert.deepEqual(
      there.map((row) => row.name),
      earlier,
    );
    await parent.query(`select pg_advisory_unlock(${blockLock})`);
    assert.deepEqual((await Promise.all(applied)).flat().sort(), names.slice(earlier.length));
    await Promise.all(replicas.map((replica) => replica.close()));
    assert.deepEqual(await schemaOf(database), clean);
  } finally {
    await parent.end();
  }
}
