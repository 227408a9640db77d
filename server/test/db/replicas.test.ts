import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Client } from 'pg';
import { until } from '../../../contracts/test/until.ts';
import { executedMigrations, listMigrations, migrateWithin } from '../../src/db/migrate.ts';
import {
  DisplacedError,
  type Joining,
  joinReplicas,
  ownRelease,
  type Replica,
  replicaTimings,
} from '../../src/db/replicas.ts';
import {
  createEmptyDatabase,
  createTestDatabase,
  databaseSettings,
  silentLog,
  type TestDatabase,
} from '../database.ts';
import { dataFolder, ready, startServer, untilPrinted } from '../process.ts';

/** Replicas of two releases never use one database at the same time. */

const own = await ownRelease();
const earlier = { ...own, version: '0.0.9' };
const key = 'a key for the tests longer than 32 bytes';
const timings = { ...replicaTimings, beatMs: 20, pollMs: 10 };
let one: TestDatabase;
before(async () => {
  one = await createTestDatabase();
});
beforeEach(() => one.database.pool.query('delete from replicas'));
after(() => one.drop());

/** A replica that joins, with its warnings; it waits as long as necessary. */
function joining(options: Partial<Joining> = {}): { joined: Promise<Replica>; warnings: object[] } {
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (details: object) => void warnings.push(details) };
  const { signal } = new AbortController();
  return { joined: joinReplicas({ db: one.database, log, signal, timings, ...options }), warnings };
}

async function registered(): Promise<string[]> {
  const { rows } = await one.database.pool.query('select release from replicas order by release');
  return rows.map(({ release }) => release);
}

const olden = () =>
  one.database.pool.query(`update replicas set seen_at = now() - interval '1 hour' where release = $1`, [
    earlier.version,
  ]);

test('a new release waits until the replicas of the old one have left', async () => {
  const old = await joining({ release: earlier }).joined;
  const { joined, warnings } = joining();
  const [waitsFor] = await until(() => warnings.length > 0 && warnings);
  assert.match(JSON.stringify(waitsFor), /"waitsFor":\[\{"release":"0\.0\.9","host":"[^"]+"\}\]/);
  assert.deepEqual(await registered(), ['0.0.9']);
  await old.leave();
  const replica = await joined;
  assert.equal(replica.isFirst, true);
  assert.deepEqual(await registered(), [own.version]);
  await replica.leave();
  assert.deepEqual(await registered(), []);
});

test('treats the same version with another schema as another release', async () => {
  const old = await joining({ release: { ...own, schema: '0059-earlier' } }).joined;
  const { joined, warnings } = joining();
  await until(() => warnings.length > 0);
  await old.leave();
  await (await joined).leave();
});

test('replicas of one release join at the same time', async () => {
  const first = await joining().joined;
  const second = await joining().joined;
  assert.deepEqual([first.isFirst, second.isFirst], [true, false]);
  await Promise.all([first.leave(), second.leave()]);
});

test('waits for a killed replica no longer than its heartbeat timeout', async () => {
  await joining({ release: earlier, timings: { ...timings, beatMs: 3_600_000 } }).joined;
  const { joined, warnings } = joining();
  await until(() => warnings.length > 0);
  await olden();
  await (await joined).leave();
});

test('names a release that stays too long, and changes nothing', async () => {
  const old = await joining({ release: earlier }).joined;
  const { joined } = joining({ timings: { ...timings, limitMs: 0 } });
  await assert.rejects(
    joined,
    /another release still use the database: 0\.0\.9 on .*Stop them, then start this release/,
  );
  assert.deepEqual(await registered(), ['0.0.9']);
  await old.leave();
});

test('the signal that stops the process ends the wait', async () => {
  const old = await joining({ release: earlier }).joined;
  const stopping = new AbortController();
  const { joined, warnings } = joining({ signal: stopping.signal });
  await until(() => warnings.length > 0);
  stopping.abort(new Error('stopped while starting'));
  await assert.rejects(joined, /stopped while starting/);
  await old.leave();
});

test('a replica stops once a newer release has migrated the database', async () => {
  const replica = await joining().joined;
  await one.database.pool.query(`insert into kysely_migration values ('9999-next', '2099-01-01T00:00:00Z')`);
  await until(() => replica.displaced.aborted);
  await one.database.pool.query(`delete from kysely_migration where name = '9999-next'`);
  assert.ok(replica.displaced.reason instanceof DisplacedError);
  assert.match(replica.displaced.reason.message, /a newer release has migrated the database \(to 9999-next\)/);
  await replica.leave();
});

test('a replica that was unreachable stops if another release has joined, and continues otherwise', async () => {
  const old = await joining({ release: earlier, timings: { ...timings, goneMs: 0 } }).joined;
  await one.database.pool.query('delete from replicas');
  await until(async () => (await registered()).length === 1);
  assert.equal(old.displaced.aborted, false);
  await one.database.pool.query(
    `update replicas set id = 'another', release = '1.0.0', seen_at = now() + interval '1 day'`,
  );
  await until(() => old.displaced.aborted);
  assert.match(old.displaced.reason.message, /it was away, and other releases use the database now: 1\.0\.0 on /);
  await old.leave();
  assert.deepEqual(await registered(), ['1.0.0']);
});

test('recognizes an unregistered release by its connections, and leaves its database unchanged', async () => {
  const empty = await createEmptyDatabase();
  const before = (await listMigrations()).filter((name) => name < '0060');
  const migrating = await empty.database.openClient();
  await migrateWithin(migrating, before);
  await migrating.end();
  const old = new Client({ connectionString: empty.url, application_name: 'homeport' });
  await old.connect();
  await old.query('listen homeport');
  const { joined, warnings } = joining({ db: empty.database });
  await until(() => warnings.length > 0);
  assert.deepEqual(await executedMigrations(empty.database), before);
  await old.end();
  const replica = await joined;
  assert.ok(replica.applied.includes('0060-replicas'));
  await replica.leave();
  await empty.drop();
});

test('many replicas that start at the same time on an empty database all join, and one of them migrates', async () => {
  const empty = await createEmptyDatabase();
  const replicas = await Promise.all(Array.from({ length: 4 }, () => joining({ db: empty.database }).joined));
  assert.deepEqual(
    replicas.flatMap(({ applied }) => applied),
    await listMigrations(),
  );
  assert.equal(replicas.filter(({ isFirst }) => isFirst).length, 1);
  await Promise.all(replicas.map((replica) => replica.leave()));
  await empty.drop();
});

test('a process waits before it starts, serves, leaves no row, and exits when the schema is newer', async () => {
  const env = { ...databaseSettings(one), AUTH_SECRET: key, SETTINGS_ENCRYPTION_KEY: key };
  const old = await joining({ release: earlier }).joined;
  const server = startServer({ DATA_DIR: dataFolder(), ...env });
  await untilPrinted(server, /waiting until every replica of another release has stopped/);
  assert.doesNotMatch(server.output(), /Homeport is ready/);
  await old.leave();
  await ready(server);
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0, server.output());
  assert.deepEqual(await registered(), []);

  const displaced = startServer({ DATA_DIR: dataFolder(), ...env });
  await ready(displaced);
  await one.database.pool.query(`insert into kysely_migration values ('9999-next', '2099-01-01T00:00:00Z')`);
  assert.equal(await displaced.exited, 1);
  await one.database.pool.query(`delete from kysely_migration where name = '9999-next'`);
  assert.match(displaced.output(), /^Homeport stops: a newer release has migrated the database \(to 9999-next\)$/m);
});
