import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, open, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { BlobStore } from '../artifacts/blob-store.ts';
import { openBlobStore } from '../artifacts/open-store.ts';
import { operator, recordEvent } from '../audit/audit.ts';
import { type Config, directUrl } from '../config/config.ts';
import { storedSecrets } from '../config/stored-secrets.ts';
import { startEmbedded } from '../db/embedded/embedded.ts';
import { type Database, type DatabaseLog, openDatabase } from '../db/pool.ts';
import { adminCommand } from '../platform/command-line.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { fitsCanary } from '../secrets/canary.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { BackupError, damaged } from './backup-error.ts';
import type { IdentityState } from './dump.ts';
import { restoreHome } from './homes.ts';
import { DatabaseLoad } from './load.ts';
import { FileLoad } from './restore-files.ts';
import { type BackupSecrets, type BackupSummary, readBackup, refuseNewer } from './verify.ts';

/**
 * Makes an empty place the installation of a backup. The backup is read twice: the first time only to prove it, so that
 * nothing is touched for one that is damaged.
 */

export type RestoreRequest = {
  config: Config;
  source: { read(): AsyncIterable<Uint8Array> };
  passphrase: string | undefined;
  log: DatabaseLog;
  signal: AbortSignal;
  onProgress?(progress: { step: 'verify' | 'restore'; rows: number; files: number }): void;
};
export type Restored = { backup: BackupSummary; notes: string[] };

const unfinishedMark = 'a restore that has not finished';
const everything = -3_600_000;

export async function restoreBackup(request: RestoreRequest): Promise<Restored> {
  const { config, source, passphrase } = request;
  const store = openBlobStore(config, { assertRoom: async () => undefined });
  try {
    const backup = await readBackup(source.read(), passphrase, {
      async head(found) {
        await refuseNewer(found);
        await assertEmptyStore(store);
        if (config.databaseUrl !== undefined || existsSync(join(config.dataDir, 'postgres'))) {
          await withDatabase(request, assertEmptyDatabase);
        }
        if (found.withWorkspaces) await assertNoHomes(config);
        request.onProgress?.({ step: 'verify', rows: 0, files: found.files.count });
      },
    });
    if (backup.secrets !== null) assertOwnSecrets(config, backup.secrets);
    makeFolder(config.dataDir, 0o700);
    return { backup, notes: await withDatabase(request, (db) => load(request, { backup, db, store })) };
  } finally {
    store.close();
  }
}

type Loading = { backup: BackupSummary; db: Database; store: BlobStore };

async function load(request: RestoreRequest, { backup, db, store }: Loading): Promise<string[]> {
  const { config, passphrase, signal } = request;
  await assertEmptyDatabase(db);
  await emptyStore(store);
  await store.prepare();
  await store.writeMark(unfinishedMark);
  const client = await db.openClient('copying');
  const loading = new DatabaseLoad(client, backup.tables);
  const files = new FileLoad(store, client);
  let mayBeThere = false;
  try {
    let states: IdentityState[] = [];
    let read = 0;
    await loading.begin(backup.migrations);
    await readBackup(request.source.read(), passphrase, {
      async table(name, content) {
        signal.throwIfAborted();
        await loading.take(name, content);
      },
      async identities(found) {
        await loading.endTables();
        states = found;
      },
      async file(sha256, member) {
        signal.throwIfAborted();
        await files.add(sha256, member);
        read += 1;
        request.onProgress?.({ step: 'restore', rows: 0, files: read });
      },
      home: (member) => restoreHome(config.dataDir, member),
    });
    if ((await files.finish()) !== backup.files.count) throw damaged('files are missing');
    for (const [table, rows] of Object.entries(backup.rows)) {
      if ((loading.rows.get(table) ?? 0) !== rows) throw damaged(`rows of ${table} are missing`);
    }
    await loading.finish(states);
    await settleIn(client);
    const written = backup.secrets !== null && (await writeSecrets(config, backup.secrets));
    const former = backup.secrets === null ? undefined : await writeFormerKeys(config, backup.secrets);
    mayBeThere = true;
    await loading.commit();
    await complete(backup, { db, store, loading }).catch(afterwards);
    return [...(await notesOn(config, backup, db, written)), ...(former === undefined ? [] : [former])];
  } catch (error) {
    await files.settled();
    await loading.rollback();
    // A commit may have happened although its answer was lost; then the database names these files.
    if (!mayBeThere) await emptyStore(store).catch(() => undefined);
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function complete(
  { createdAt, release, installation }: BackupSummary,
  { db, store, loading }: Omit<Loading, 'backup'> & { loading: DatabaseLoad },
): Promise<void> {
  await store.writeMark(installation);
  await loading.analyze();
  await recordEvent(db.kysely, operator, { action: 'backup.restored', details: { createdAt, release } });
}

function afterwards(cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : 'unknown reason';
  throw new BackupError(
    `Everything is restored, but then something failed: ${reason}. Start Homeport; if it refuses ARTIFACT_STORE, run ` +
      `"${adminCommand} adopt-store".`,
    { cause },
  );
}

/** Nothing runs here yet, and the files are in a store of this place. */
async function settleIn(client: Client): Promise<void> {
  await client.query(`
    update installation set store_marked = true;
    delete from workspace_leases;
    delete from workspace_hosts;
    update workspaces set phase = 'stopped', runtime = null, host = null, token_hash = null, key_id = null,
      op_owner = null, op_until = null where phase <> 'stopped'`);
}

async function withDatabase<T>(request: RestoreRequest, work: (db: Database) => Promise<T>): Promise<T> {
  const { config, log, signal } = request;
  const embedded =
    config.databaseUrl === undefined ? await startEmbedded({ dataDir: config.dataDir, log, signal }) : undefined;
  const db = openDatabase({ connection: embedded?.connection ?? directUrl(config) ?? '', max: 2, log });
  try {
    return await work(db);
  } finally {
    await db.close();
    await embedded?.stop();
  }
}

async function assertEmptyDatabase(db: Database): Promise<void> {
  const { rowCount } = await db.pool.query(
    `select from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
       and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
         and d.deptype = 'e') limit 1`,
  );
  if (rowCount !== 0) throw notEmpty('The database');
}

async function assertEmptyStore(store: BlobStore): Promise<void> {
  const mark = await store.readMark();
  if (mark === unfinishedMark) return;
  if (mark !== undefined) throw notEmpty('ARTIFACT_STORE');
  for await (const keys of store.listOlder(everything)) if (keys.length > 0) throw notEmpty('ARTIFACT_STORE');
}

/** Removes what a restore has put there; the store was empty before. */
async function emptyStore(store: BlobStore): Promise<void> {
  if ((await store.readMark()) !== unfinishedMark) return assertEmptyStore(store);
  for await (const keys of store.listOlder(everything)) await store.remove(keys);
}

async function assertNoHomes({ dataDir }: Config): Promise<void> {
  const names = await readdir(join(dataDir, 'workspaces')).catch(() => []);
  if (names.some((name) => name !== 'host-id')) throw notEmpty('The folder of workspaces in DATA_DIR');
}

function notEmpty(what: string): BackupError {
  return new BackupError(
    `${what} is not empty. A backup is restored only into an empty place: give another one, or remove what is there yourself.`,
  );
}

/** Keys that are already there must be those of the backup. */
function assertOwnSecrets({ dataDir }: Config, secrets: BackupSecrets): void {
  const stored = storedSecrets(dataDir, false);
  if ('problem' in stored || stored.encryptionKey === undefined) return;
  if (stored.encryptionKey === secrets.SETTINGS_ENCRYPTION_KEY) return;
  throw new BackupError(
    `${dataDir}/secrets.json has the keys of another installation. Move it away, then restore again.`,
  );
}

/** False if there is such a file already. */
async function writeSecrets({ dataDir }: Config, secrets: BackupSecrets): Promise<boolean> {
  const file = join(dataDir, 'secrets.json');
  const draft = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  const { AUTH_SECRET, SETTINGS_ENCRYPTION_KEY } = secrets;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ AUTH_SECRET, SETTINGS_ENCRYPTION_KEY }, null, 2)}\n`);
    await handle.sync();
    await link(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
}

/**
 * The backup was made while keys were changed: some credentials are still encrypted with an earlier one. Returns what
 * to do.
 */
async function writeFormerKeys({ dataDir }: Config, secrets: BackupSecrets): Promise<string | undefined> {
  const keys = secrets.SETTINGS_ENCRYPTION_KEY_PREVIOUS;
  if (keys.length === 0) return undefined;
  const file = join(dataDir, `previous-keys-${randomBytes(4).toString('hex')}`);
  await writeFile(file, `${keys.join(',')}\n`, { mode: 0o600, flag: 'wx' });
  return (
    `The backup was made while keys were changed. Set SETTINGS_ENCRYPTION_KEY_PREVIOUS_FILE to ${file}, ` +
    `run "${adminCommand} rotate-keys", then remove the setting and the file.`
  );
}

const ofTheMachine = /^(DATA_DIR|HOST|PORT|ARTIFACT_STORE|AWS_|HTTPS?_PROXY|LOG_LEVEL|BACKUP_|DATABASE_)/;

async function notesOn(config: Config, backup: BackupSummary, db: Database, written: boolean): Promise<string[]> {
  const notes: string[] = [];
  if (written) notes.push(`The keys are in ${join(config.dataDir, 'secrets.json')}.`);
  if (written && config.databaseUrl !== undefined) {
    notes.push('With DATABASE_URL, set AUTH_SECRET and SETTINGS_ENCRYPTION_KEY to the values in that file.');
  }
  if (!(await hasTheKey(config, backup, db))) {
    notes.push(
      'This place does not have the SETTINGS_ENCRYPTION_KEY of the backup. Set it, or put the secrets.json of the ' +
        'installation into DATA_DIR. Without it, keys of providers and other credentials have to be entered again.',
    );
  }
  const names = Object.keys(backup.settings).filter((name) => !ofTheMachine.test(name));
  if (names.length > 0) notes.push(`The installation had these settings, compare them: ${names.join(', ')}.`);
  return notes;
}

async function hasTheKey(config: Config, { secrets }: BackupSummary, db: Database): Promise<boolean> {
  const current = config.encryptionKey === '' ? secrets?.SETTINGS_ENCRYPTION_KEY : config.encryptionKey;
  if (current === undefined) return false;
  const previous = [...config.previousEncryptionKeys];
  return fitsCanary({ db, secrets: createKeyRing({ current, previous }) });
}
