import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findSystemPostgres, startSystemPostgres } from '../../../scripts/test/system-postgres.mjs';
import { readBackup } from '../../src/backups/verify.ts';
import type { Config } from '../../src/config/config.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { type SignedIn, startTestApp, type TestApp, testConfig } from '../app.ts';
import { silentLog } from '../database.ts';
import { backUp, contentOf, fill, Places, restoreInto, talk } from './backup-harness.ts';

/**
 * Backups of one version of PostgreSQL restored into another, in both directions: the tests' own and the
 * distribution's, and those whose folders with initdb, pg_ctl and postgres are in POSTGRES_BINS, separated by colons.
 */

type Server = { url: string; stop(): Promise<void> };
const places = new Places();
const servers: Server[] = [];
let app: TestApp;
let count = 0;

const system = findSystemPostgres()?.bin;
const bins = (process.env.POSTGRES_BINS ?? system ?? '').split(':').filter((bin) => bin !== '');
const skip = bins.length === 0 && 'no other PostgreSQL is installed';

before(async () => {
  if (skip !== false) return;
  app = await startTestApp();
  for (const bin of bins) servers.push(await startSystemPostgres({ bin }));
});
after(async () => {
  await app?.stop();
  for (const server of servers) await server.stop();
  await places.close();
});

async function versionOf(url: string): Promise<string> {
  const db = openDatabase({ connection: url, max: 1, log: silentLog });
  const { rows } = await db.pool.query('show server_version');
  await db.close();
  return rows[0].server_version;
}

/** Settings of an empty place on that server. */
async function emptyOn({ url }: Server): Promise<Config> {
  count += 1;
  const name = `homeport_versions_${count}`;
  const admin = openDatabase({ connection: url, max: 1, log: silentLog });
  await admin.pool.query(`create database ${name} template template0 encoding 'UTF8'`);
  await admin.close();
  const address = new URL(url);
  address.pathname = `/${name}`;
  return {
    ...testConfig,
    dataDir: join(await places.folder(), 'data'),
    artifactStore: await places.folder(),
    databaseUrl: address.href,
  };
}

test('restores between versions of PostgreSQL have the same content, in both directions', {
  skip,
}, async () => {
  const user: SignedIn = await app.signIn({ role: 'admin' });
  await talk(app.database.database, await fill(user), 500);
  const { config } = app.service.deps;
  const expected = await contentOf(config, app.database.database);
  const folder = await places.folder();
  const own = join(folder, 'own.tar');
  await backUp(config, app.database.database, own);
  const backups = [{ from: await versionOf(app.database.url), file: own }];
  let directions = 0;
  const into = async (place: Config, from: string, file: string, next?: string) => {
    await restoreInto(place, file);
    directions += 1;
    const db = openDatabase({ connection: place.databaseUrl ?? '', max: 3, log: silentLog });
    try {
      const version = await versionOf(place.databaseUrl ?? '');
      assert.deepEqual(await contentOf(place, db), expected, `${from} to ${version}`);
      if (next === undefined) return;
      await backUp(place, db, next);
      await readBackup(createReadStream(next), undefined, {});
      backups.push({ from: version, file: next });
    } finally {
      await db.close();
    }
  };
  for (const [index, server] of servers.entries())
    await into(await emptyOn(server), backups[0]?.from ?? '', own, join(folder, `${index}.tar`));
  for (const { from, file } of backups.slice(1)) {
    await into((await places.empty('external/folder')).config, from, file);
    for (const server of servers) await into(await emptyOn(server), from, file);
  }
  console.log(`restores between PostgreSQL ${backups.map(({ from }) => from).join(', ')}: ${directions} directions`);
});
