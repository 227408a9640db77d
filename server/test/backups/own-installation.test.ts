import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, beforeEach, test } from 'node:test';
import { openBlobStore } from '../../src/artifacts/open-store.ts';
import { assertOwnStore } from '../../src/artifacts/own-store.ts';
import { sweepStore } from '../../src/artifacts/sweeper.ts';
import type { Config } from '../../src/config/config.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { assertEncryptionKey } from '../../src/secrets/encryption-key-check.ts';
import { testConfig } from '../app.ts';
import { admin } from '../command-admin.ts';
import { createTestDatabase, databaseSettings, type TestDatabase } from '../database.ts';
import { s3Credentials, startS3Server } from '../fakes/s3-server.ts';
import { dataFolder, ready, startServer } from '../process.ts';

/** A process with the encryption key or the file store of another installation: noticed at the start, with advice. */

const key = 'the key of this installation of 32 bytes or more';
const otherKey = 'the key of another installation of 32 bytes too';
const authSecret = 'a session secret of more than 32 bytes for tests';
const log = createLogger('silent');
const hourMs = 3_600_000;

let installation: TestDatabase;
const databases: TestDatabase[] = [];
const folders: string[] = [];
beforeEach(async () => {
  installation = await newDatabase();
});
after(async () => {
  for (const database of databases) await database.drop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function newDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  databases.push(database);
  // Test databases are copies of one, with its name.
  await database.database.pool.query('update installation set id = gen_random_uuid()');
  return database;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-store-'));
  folders.push(folder);
  return folder;
}

/** Checks the key as a start does; returns the message of a refusal. */
async function startWith(encryptionKey: string, previous: string[] = []): Promise<string> {
  const { url: databaseUrl, database } = installation;
  const config = { ...testConfig, databaseUrl, encryptionKey, previousEncryptionKeys: previous };
  return assertEncryptionKey(config, database, log).then(
    () => 'starts',
    (error: Error) => error.message,
  );
}

function depsOf(given: Partial<Config>, { database, url }: TestDatabase = installation) {
  const config = { ...testConfig, databaseUrl: url, ...given };
  return { config, db: database, artifactStore: openBlobStore(config, { assertRoom: async () => undefined }), log };
}

async function storeMessage(deps: ReturnType<typeof depsOf>): Promise<string> {
  return assertOwnStore(deps).then(
    () => 'starts',
    (error: Error) => error.message,
  );
}

/** A user's file, in the store and in `blobs`. */
async function storeFile({ db, artifactStore }: ReturnType<typeof depsOf>): Promise<string> {
  const stored = await artifactStore.put(Readable.from([Buffer.from('a file')]));
  await db.kysely.insertInto('blobs').values(stored).execute();
  return stored.key;
}

test('replicas that start at the same time agree on one key, and another one is refused with advice', async () => {
  const starts = await Promise.all([startWith(key), startWith(key), startWith(otherKey), startWith(otherKey)]);
  assert.equal(starts.filter((logged) => logged === 'starts').length, 2, 'those with one key, whichever was first');
  const refused = starts.find((logged) => logged !== 'starts') ?? '';
  assert.match(refused, /SETTINGS_ENCRYPTION_KEY is not the key of this installation.*_PREVIOUS.*adopt-key/s);
  for (const secret of [key, otherKey]) assert.ok(!refused.includes(secret));
});

test('a change of keys succeeds: both, then only the new one after rotate-keys, and the old one is refused', async () => {
  assert.equal(await startWith(key), 'starts');
  assert.equal(await startWith(key, [otherKey]), 'starts');
  assert.equal(await startWith(otherKey, [key]), 'starts');
  assert.match(await startWith(otherKey), /is not the key/, 'rotate-keys was forgotten');
  const settings = { AUTH_SECRET: authSecret, ...databaseSettings(installation), SETTINGS_ENCRYPTION_KEY: otherKey };
  const tooEarly = await admin(['rotate-keys'], settings);
  assert.deepEqual([tooEarly.code, /adopt-key/.test(tooEarly.output)], [1, true], tooEarly.output);
  const rotated = await admin(['rotate-keys'], { ...settings, SETTINGS_ENCRYPTION_KEY_PREVIOUS: key });
  assert.equal(rotated.code, 0, rotated.output);
  assert.equal(await startWith(otherKey), 'starts');
  assert.match(await startWith(key), /is not the key/);
});

test('warns about another key with the embedded database', async () => {
  assert.equal(await startWith(key), 'starts');
  const logged: string[] = [];
  const config = { ...testConfig, databaseUrl: undefined, encryptionKey: otherKey };
  const warning = Object.assign(createLogger('silent'), { warn: (text: string) => logged.push(text) });
  await assertEncryptionKey(config, installation.database, warning);
  assert.match(logged.join(), /SETTINGS_ENCRYPTION_KEY is not the key of this installation/);
});

test('a process with another key exits with the reason, and starts once the key was adopted', async () => {
  assert.equal(await startWith(key), 'starts');
  const dataDir = dataFolder();
  const env = {
    ...databaseSettings(installation),
    AUTH_SECRET: authSecret,
    SETTINGS_ENCRYPTION_KEY: otherKey,
    DATA_DIR: dataDir,
  };
  const refused = startServer(env);
  assert.equal(await refused.exited, 1);
  assert.match(refused.output(), /^ {2}- SETTINGS_ENCRYPTION_KEY is not the key of this installation/m);
  const adopted = await admin(['adopt-key'], env);
  assert.deepEqual([adopted.code, adopted.output.includes(otherKey)], [0, false], adopted.output);
  const server = startServer(env);
  await ready(server);
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0, server.output());
  const { rows } = await installation.database.pool.query(`select action from audit_events where action like 'keys.%'`);
  assert.deepEqual(rows, [{ action: 'keys.adopted' }]);
});

test("refuses another installation's store, or an empty one in place of its own, without sweeping it", async () => {
  const [ours, theirs, empty] = [newFolder(), newFolder(), newFolder()];
  const neighbour = depsOf({ artifactStore: theirs }, await newDatabase());
  const here = depsOf({ artifactStore: ours });
  for (const deps of [neighbour, here, here]) assert.equal(await storeMessage(deps), 'starts');
  const file = await storeFile(neighbour);
  await storeFile(here);

  const foreign = depsOf({ artifactStore: theirs });
  assert.match(await storeMessage(foreign), /ARTIFACT_STORE belongs to another installation.*adopt-store/s);
  const old = new Date(Date.now() - 2 * hourMs);
  utimesSync(join(theirs, file), old, old);
  await sweepStore(foreign);
  assert.ok(readFileSync(join(theirs, file)).length > 0, "another installation's file was swept");

  assert.match(
    await storeMessage(depsOf({ artifactStore: empty })),
    /the file "installation" is missing.*adopt-store/s,
  );
  assert.deepEqual(readdirSync(empty), [], 'nothing was made in what may be a folder that nothing is mounted at');
  assert.equal(await storeMessage(depsOf({ artifactStore: empty, databaseUrl: undefined })), 'starts');
  const settings = { AUTH_SECRET: authSecret, SETTINGS_ENCRYPTION_KEY: key, ...databaseSettings(installation) };
  const adopted = await admin(['adopt-store'], { ...settings, ARTIFACT_STORE: empty });
  assert.equal(adopted.code, 0, adopted.output);
  assert.equal(await storeMessage(depsOf({ artifactStore: empty })), 'starts');
});

test("a process with another installation's store exits with the reason, and starts once it was adopted", async () => {
  const theirs = newFolder();
  assert.equal(await storeMessage(depsOf({ artifactStore: theirs }, await newDatabase())), 'starts');
  const mark = readFileSync(join(theirs, 'installation'), 'utf8');
  const env = {
    ...databaseSettings(installation),
    AUTH_SECRET: authSecret,
    SETTINGS_ENCRYPTION_KEY: key,
    DATA_DIR: dataFolder(),
    ARTIFACT_STORE: theirs,
  };
  const refused = startServer(env);
  assert.equal(await Promise.race([refused.exited, ready(refused)]), 1, refused.output());
  assert.match(refused.output(), /^ {2}- ARTIFACT_STORE belongs to another installation.*adopt-store/m);
  assert.equal(readFileSync(join(theirs, 'installation'), 'utf8'), mark);
  const adopted = await admin(['adopt-store'], env);
  assert.equal(adopted.code, 0, adopted.output);
  const server = startServer(env);
  await ready(server);
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0, server.output());
});

test('marks a bucket as well; an unreachable one blocks no start and is marked by the next sweep', async () => {
  const s3 = await startS3Server();
  const bucket = { artifactStore: `s3://${s3.bucket}/files`, ...s3Credentials };
  const here = depsOf({ ...bucket, awsEndpoint: s3.url });
  const away = { ...here, artifactStore: { ...here.artifactStore, readMark: () => Promise.reject(new Error('away')) } };
  try {
    assert.equal(await storeMessage(away), 'starts');
    await sweepStore(here);
    assert.match((await here.artifactStore.readMark()) ?? '', /^[0-9a-f-]{36}$/);
    for await (const keys of here.artifactStore.listOlder(-hourMs)) assert.deepEqual(keys, []);
    assert.equal(await storeMessage(here), 'starts');
    assert.match(
      await storeMessage(depsOf({ ...bucket, awsEndpoint: s3.url }, await newDatabase())),
      /another installation/,
    );
  } finally {
    here.artifactStore.close();
    await s3.close();
  }
});
