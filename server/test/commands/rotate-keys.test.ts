import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { insertUser } from '../../src/accounts/users.ts';
import { resolveCredentials } from '../../src/catalogue/credentials.ts';
import { getOwnedProvider, updateProvider } from '../../src/catalogue/providers.ts';
import { resealProviders, type UnreadableCredential } from '../../src/catalogue/reseal-providers.ts';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { readPidFile } from '../../src/db/embedded/server.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Database, inTransaction, openDatabase } from '../../src/db/pool.ts';
import { openMcpHeaders, sealMcpHeaders } from '../../src/mcp/credentials.ts';
import { resealMcpServers } from '../../src/mcp/rotation.ts';
import { seal } from '../../src/secrets/key-ring.ts';
import { type CatalogueTestDeps, catalogueDeps, makeOwner, makeProvider } from '../catalogue/catalogue-makers.ts';
import { admin } from '../command-admin.ts';
import { createTestDatabase, databaseSettings, silentLog, type TestDatabase } from '../database.ts';

const oldKey = 'the old encryption key of more than 32 bytes';
const newKey = 'the new encryption key of more than 32 bytes';
const lostKey = 'the lost encryption key of more than 32 bytes';
const authSecret = 'a session secret of more than 32 bytes for tests';

let testDatabase: TestDatabase;
const folders: string[] = [];

before(async () => {
  testDatabase = await createTestDatabase();
});

after(async () => {
  await testDatabase.drop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function emptied(): Promise<Database> {
  await testDatabase.database.pool.query('delete from providers');
  return testDatabase.database;
}

async function rotate(deps: CatalogueTestDeps, signal = new AbortController().signal) {
  const unreadable: UnreadableCredential[] = [];
  const rotation = await resealProviders(deps, { signal, onUnreadable: (credential) => unreadable.push(credential) });
  return { rotation, unreadable };
}

async function stored(db: Database): Promise<unknown[]> {
  return (await db.pool.query('select id, api_key, headers, updated_at from providers order by id')).rows;
}

async function credentialsOf(deps: CatalogueTestDeps, owner: string, id: string) {
  return resolveCredentials(deps, await getOwnedProvider(deps, owner, id));
}

describe('a rotation', () => {
  test('seals everything with the current key, over many batches, and a second run finds nothing to do', async () => {
    const db = await emptied();
    const before = catalogueDeps(db, oldKey);
    const owners = Array.from({ length: 5 }, makeOwner);
    const ownerOf = (index: number) => owners[index % 5] ?? assert.fail();
    const ids: string[] = [];
    for (let index = 0; index < 205; index += 1) {
      const headers = { 'x-team': `team ${index}` };
      const fields = index % 3 === 0 ? { headers } : { apiKey: `sk-${index}`, headers };
      ids.push(await makeProvider(before, ownerOf(index), index === 7 ? {} : fields));
    }
    const updatedAt = (rows: unknown[]) => JSON.stringify(rows, ['id', 'updated_at']);
    const touched = updatedAt(await stored(db));

    const { rotation, unreadable } = await rotate(catalogueDeps(db, newKey, [oldKey]));
    // 69 providers without an API key, one with nothing at all.
    assert.deepEqual(rotation, { resealed: 204 + 135, current: 0, unreadable: 0, interrupted: false });
    assert.deepEqual(unreadable, []);
    assert.equal(updatedAt(await stored(db)), touched);

    const alone = catalogueDeps(db, newKey);
    for (const [index, id] of ids.entries()) {
      if (index === 7) continue;
      const { apiKey, headers } = await credentialsOf(alone, ownerOf(index), id);
      assert.equal(apiKey, index % 3 === 0 ? undefined : `sk-${index}`);
      assert.deepEqual(headers, { 'x-team': `team ${index}` });
    }
    const rows = await stored(db);
    assert.deepEqual((await rotate(alone)).rotation, { resealed: 0, current: 339, unreadable: 0, interrupted: false });
    assert.deepEqual(await stored(db), rows);
  });

  test('leaves unreadable values unchanged, and names their owners', async () => {
    const db = await emptied();
    const [owner, person] = [makeOwner(), makeOwner()];
    await db.kysely
      .insertInto('users')
      .values({ id: person, name: 'Ann', email: 'ann@example.org', role: 'user' })
      .execute();
    const lost = await makeProvider(catalogueDeps(db, lostKey), owner, { apiKey: 'sk-lost' });
    const good = await makeProvider(catalogueDeps(db, oldKey), owner, { apiKey: 'sk-good' });
    const half = await makeProvider(catalogueDeps(db, lostKey), person, { apiKey: 'sk-half', headers: { 'x-a': 'b' } });
    const deps = catalogueDeps(db, newKey, [oldKey]);
    await updateProvider(deps, person, { id: half, headers: { 'x-c': 'd' } });
    // An envelope of the current key, but copied from another place.
    const moved = await makeProvider(deps, owner);
    const foreign = seal(deps.secrets, { table: 'providers', row: good, column: 'api_key' }, 'sk-moved');
    await db.kysely.updateTable('providers').set({ api_key: foreign }).where('id', '=', moved).execute();

    const rows = await stored(db);
    const { rotation, unreadable } = await rotate(deps);
    assert.deepEqual(rotation, { resealed: 1, current: 1, unreadable: 3, interrupted: false });
    // In the order of their ids, which is random within one millisecond.
    const expected = [
      { providerId: lost, owner, column: 'api_key' },
      { providerId: half, owner: 'ann@example.org', column: 'api_key' },
      { providerId: moved, owner, column: 'api_key' },
    ].sort((a, b) => (a.providerId < b.providerId ? -1 : 1));
    assert.deepEqual(unreadable, expected);
    const left = (all: unknown[]) => all.filter((row) => !JSON.stringify(row).includes(good));
    assert.deepEqual(left(await stored(db)), left(rows));
    assert.equal((await credentialsOf(catalogueDeps(db, newKey), owner, good)).apiKey, 'sk-good');
  });

  test('seals the headers of MCP servers too, and names the owners of unreadable ones', async () => {
    const { database } = testDatabase;
    const owner = await insertUser(database.kysely, { name: 'Owner', role: 'user', email: 'mcp@example.org' });
    const [before, lost] = [catalogueDeps(database, oldKey), catalogueDeps(database, lostKey)];
    for (const [id, deps, headers] of [
      ['one', before, { 'x-a': 'canary' }],
      ['two', lost, { 'x-a': 'canary' }],
      ['three', before, {}],
    ] as const) {
      await database.pool.query(
        `insert into mcp_servers (id, owner_id, name, url, transport, headers) values ($1, $2, 'M', 'https://a.test', 'http', $3)`,
        [id, owner.id, sealMcpHeaders(deps, { id, owner_id: owner.id, url: 'https://a.test' }, headers)],
      );
    }
    const deps = catalogueDeps(database, newKey, [oldKey]);
    const unreadable: unknown[] = [];
    const { signal } = new AbortController();
    const run = () => resealMcpServers(deps, { signal, onUnreadable: (headers) => unreadable.push(headers) });
    assert.deepEqual(await run(), { resealed: 1, current: 0, unreadable: 1, interrupted: false });
    assert.deepEqual(unreadable, [{ serverId: 'two', owner: 'mcp@example.org', kind: 'headers' }]);
    assert.deepEqual(await run(), { resealed: 0, current: 1, unreadable: 1, interrupted: false });
    const { rows } = await database.pool.query(`select headers from mcp_servers where id = 'one'`);
    const alone = catalogueDeps(database, newKey);
    const row = { id: 'one', owner_id: owner.id, url: 'https://a.test', headers: rows[0].headers };
    assert.deepEqual(openMcpHeaders(alone, row), { 'x-a': 'canary' });
    assert.throws(() => openMcpHeaders(alone, { ...row, id: 'other' }), /cannot be read/);
    await database.pool.query('delete from mcp_servers');
  });

  test('never overwrites a credential that a user enters at that moment', async () => {
    const db = await emptied();
    const owner = makeOwner();
    const id = await makeProvider(catalogueDeps(db, oldKey), owner, { apiKey: 'sk-before' });
    const deps = catalogueDeps(db, newKey, [oldKey]);
    let rotating: ReturnType<typeof rotate> | undefined;
    await inTransaction(db, async (transaction) => {
      // A replica that still has the old key seals with it.
      const place = { table: 'providers', row: id, column: 'api_key' };
      const api_key = seal(catalogueDeps(db, oldKey).secrets, place, 'sk-entered');
      await transaction.updateTable('providers').set({ api_key }).where('id', '=', id).execute();
      rotating = rotate(deps);
      await someoneWaits(db);
    });
    const { rotation } = (await rotating) ?? assert.fail();
    assert.deepEqual(rotation, { resealed: 1, current: 0, unreadable: 0, interrupted: false });
    assert.equal((await credentialsOf(catalogueDeps(db, newKey), owner, id)).apiKey, 'sk-entered');
  });

  test('can be interrupted and finished later', async () => {
    const db = await emptied();
    const owner = makeOwner();
    for (let count = 0; count < 3; count += 1) await makeProvider(catalogueDeps(db, oldKey), owner, { apiKey: 'sk' });
    // The second in the order of the rotation, whichever of them that is: ids of one millisecond have no order.
    const [, id] = (await db.pool.query('select id from providers order by id')).rows.map((row): string => row.id);
    const api_key = seal(
      catalogueDeps(db, lostKey).secrets,
      { table: 'providers', row: id ?? '', column: 'api_key' },
      'sk',
    );
    await db.pool.query('update providers set api_key = $1 where id = $2', [api_key, id]);
    const deps = catalogueDeps(db, newKey, [oldKey]);
    const stop = new AbortController();
    const rotation = await resealProviders(deps, { signal: stop.signal, onUnreadable: () => stop.abort() });
    assert.deepEqual(rotation, { resealed: 1, current: 0, unreadable: 1, interrupted: true });
    assert.deepEqual((await rotate(deps)).rotation, { resealed: 1, current: 1, unreadable: 1, interrupted: false });
  });
});

/** Resolves when a connection of this database waits for a lock. */
async function someoneWaits(db: Database): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until('somebody waits for a lock', async () => (await db.pool.query(waiting)).rowCount !== 0);
}

describe('the command', () => {
  const keys = { SETTINGS_ENCRYPTION_KEY: newKey, SETTINGS_ENCRYPTION_KEY_PREVIOUS: oldKey };

  test('prints its help, with exit code 2 for invalid usage', async () => {
    for (const args of [[], ['nonsense'], ['constructor']]) {
      const { code, output } = await admin(args, {});
      assert.equal(code, 2, args.join(' '));
      assert.match(output, /^Usage: npm run admin -- <command>\n[\s\S]*rotate-keys/m);
      const [name] = args;
      assert.equal(output.startsWith(`There is no command "${name}".\n`), name !== undefined);
    }
    const { code, output } = await admin(['rotate-keys', '--all'], {});
    assert.equal(code, 2);
    assert.match(output, /--all[\s\S]*^Usage: npm run admin -- rotate-keys$/m);
    assert.equal((await admin(['--help'], {})).code, 0);
  });

  test('works on an external database, and exits with code 1 and names if something is unreadable', async () => {
    const db = await emptied();
    const owner = makeOwner();
    await makeProvider(catalogueDeps(db, oldKey), owner, { apiKey: 'sk-canary-1' });
    const environment = { ...keys, ...databaseSettings(testDatabase) };
    assert.deepEqual(await admin(['rotate-keys'], environment), {
      code: 0,
      output: 'Credentials: 1 encrypted again, 0 already current, 0 unreadable.\n',
    });
    const place = { table: 'settings', row: 'installation', column: 'oidc_client_secret' };
    const sealWith = (key: string) => seal(catalogueDeps(db, key).secrets, place, 'canary-3');
    await db.kysely
      .updateTable('settings')
      .set({ oidc_client_secret: sealWith(oldKey) })
      .execute();
    const third = await admin(['rotate-keys'], environment);
    assert.equal(third.output, 'Credentials: 1 encrypted again, 1 already current, 0 unreadable.\n');
    await db.kysely
      .updateTable('settings')
      .set({ oidc_client_secret: sealWith(lostKey) })
      .execute();
    const fourth = await admin(['rotate-keys'], environment);
    assert.equal(fourth.code, 1);
    assert.ok(fourth.output.startsWith('unreadable: client secret of the OIDC configuration\n'), fourth.output);
    await db.kysely.updateTable('settings').set({ oidc_client_secret: null }).execute();
    const lost = await makeProvider(catalogueDeps(db, lostKey), owner, { headers: { 'x-a': 'canary-2' } });
    const { code, output } = await admin(['rotate-keys'], environment);
    assert.equal(code, 1);
    assert.ok(output.includes(`unreadable: headers of provider ${lost} (owner ${owner})\n`), output);
    assert.ok(output.includes('0 encrypted again, 1 already current, 1 unreadable.'), output);
    for (const secret of ['canary', oldKey, newKey, lostKey]) assert.ok(!output.includes(secret));
  });

  test('refuses a database of a newer or an earlier release, and changes nothing there', async () => {
    const db = await emptied();
    await makeProvider(catalogueDeps(db, oldKey), makeOwner(), { apiKey: 'sk-1' });
    const rows = await stored(db);
    const environment = { ...keys, ...databaseSettings(testDatabase) };
    const newer = `insert into kysely_migration (name, timestamp) values ('9999-future', 'now')`;
    await db.pool.query(newer);
    for (const command of ['rotate-keys', 'export']) {
      const { code, output } = await admin([command], environment);
      assert.equal(code, 1);
      assert.match(output, /newer release of Homeport \(it has 9999-future\)/);
    }
    await db.pool.query(`delete from kysely_migration where name = '9999-future'`);
    const last = await db.pool.query(`delete from kysely_migration where name = (select max(name) from kysely_migration)
      returning name, timestamp`);
    assert.match((await admin(['rotate-keys'], environment)).output, /an earlier release of Homeport/);
    const { name, timestamp } = last.rows[0];
    await db.pool.query('insert into kysely_migration (name, timestamp) values ($1, $2)', [name, timestamp]);
    assert.deepEqual(await stored(db), rows);
  });

  test('reports errors in its settings', async () => {
    const { code, output } = await admin(['rotate-keys'], { SETTINGS_ENCRYPTION_KEY: 'short', PORT: 'x' });
    assert.equal(code, 1);
    assert.match(
      output,
      /SETTINGS_ENCRYPTION_KEY is not shown[\s\S]*PORT is "x"|PORT is "x"[\s\S]*SETTINGS_ENCRYPTION_KEY is not shown/,
    );
  });

  test('leaves a folder without a database unchanged', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'homeport-admin-'));
    folders.push(dataDir);
    const without = await admin(['rotate-keys'], { DATA_DIR: dataDir });
    assert.equal(without.code, 1);
    assert.match(without.output, /secrets\.json does not exist/);
    const empty = await admin(['rotate-keys'], { ...keys, DATA_DIR: dataDir });
    assert.equal(empty.code, 1);
    assert.match(empty.output, /There is no database in/);
    assert.deepEqual(await readdir(dataDir), []);
  });

  test('joins the embedded database of a running service, and starts and stops it otherwise', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'homeport-admin-'));
    folders.push(dataDir);
    const secrets = { AUTH_SECRET: authSecret, SETTINGS_ENCRYPTION_KEY: oldKey };
    await writeFile(join(dataDir, 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 });
    const embedded = await startEmbedded({ dataDir, log: silentLog });
    const db = openDatabase({ connection: embedded.connection, log: silentLog });
    try {
      await migrate(db);
      await makeProvider(catalogueDeps(db, oldKey), makeOwner(), { apiKey: 'sk-1' });
      const environment = { ...keys, DATA_DIR: dataDir };
      const beside = await admin(['rotate-keys'], environment);
      assert.deepEqual(beside, {
        code: 0,
        output: 'Credentials: 1 encrypted again, 0 already current, 0 unreadable.\n',
      });
      const { rows } = await db.pool.query('select count(*)::int as providers from providers');
      assert.deepEqual(rows, [{ providers: 1 }]);
    } finally {
      await db.close();
      await embedded.stop();
    }
    const alone = await admin(['rotate-keys'], { SETTINGS_ENCRYPTION_KEY: newKey, DATA_DIR: dataDir });
    assert.deepEqual(alone, { code: 0, output: 'Credentials: 0 encrypted again, 1 already current, 0 unreadable.\n' });
    assert.equal(await readPidFile(join(dataDir, 'postgres')), undefined);
    assert.ok(existsSync(join(dataDir, 'secrets.json')));
  });
});
