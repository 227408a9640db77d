import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBlobStore } from '../../src/artifacts/open-store.ts';
import { makeBackup } from '../../src/backups/backup.ts';
import { restoreBackup } from '../../src/backups/restore.ts';
import type { Config } from '../../src/config/config.ts';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { type Database, openDatabase } from '../../src/db/pool.ts';
import { type SignedIn, testConfig } from '../app.ts';
import { createChat, upload } from '../artifacts/artifact-makers.ts';
import { createEmptyDatabase, silentLog, type TestDatabase } from '../database.ts';
import { type S3Server, s3Credentials, startS3Server } from '../fakes/s3-server.ts';

/** Places to back up and to restore into: either kind of database with either kind of file store. */

export type Place = { config: Config; use<T>(work: (db: Database) => Promise<T>): Promise<T> };
export type Kind = 'embedded/folder' | 'embedded/bucket' | 'external/folder' | 'external/bucket';
export const kinds: readonly Kind[] = ['embedded/folder', 'embedded/bucket', 'external/folder', 'external/bucket'];

export class Places {
  readonly #folders: string[] = [];
  readonly #databases: TestDatabase[] = [];
  #s3: Promise<S3Server> | undefined;
  #count = 0;

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'homeport-backup-'));
    this.#folders.push(folder);
    return folder;
  }

  /** A place with nothing in it; its DATA_DIR does not exist yet. */
  async empty(kind: Kind): Promise<Place> {
    const dataDir = join(await this.folder(), 'data');
    const [database, store] = kind.split('/');
    const files = store === 'bucket' ? await this.bucket() : {};
    const external = database === 'external' ? await createEmptyDatabase() : undefined;
    if (external !== undefined) this.#databases.push(external);
    const config = { ...testConfig, ...files, dataDir, databaseUrl: external?.url };
    return { config, use: (work) => withDatabase(config, work) };
  }

  /** Settings of an empty folder in a bucket. */
  async bucket(): Promise<Partial<Config>> {
    this.#s3 ??= startS3Server();
    const { url, bucket } = await this.#s3;
    this.#count += 1;
    return { artifactStore: `s3://${bucket}/place-${this.#count}`, awsEndpoint: url, ...s3Credentials };
  }

  async close(): Promise<void> {
    for (const database of this.#databases) await database.drop();
    await (await this.#s3)?.close();
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }
}

async function withDatabase<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  const embedded =
    config.databaseUrl === undefined ? await startEmbedded({ dataDir: config.dataDir, log: silentLog }) : undefined;
  const db = openDatabase({ connection: embedded?.connection ?? config.databaseUrl ?? '', max: 3, log: silentLog });
  try {
    return await work(db);
  } finally {
    await db.close();
    await embedded?.stop();
  }
}

// Only against hangs; tests have limits of their own, and thirty rounds of backup-kills.test.ts leave much to restore.
const hangsAfterMs = 600_000;

type Options = { passphrase?: string; withWorkspaces?: boolean; signal?: AbortSignal };

/** Backs up a place; resolves with the command's result. */
export async function backUp(config: Config, db: Database, to: string, options: Options = {}) {
  const artifactStore = openBlobStore(config, { assertRoom: async () => undefined });
  const signal = options.signal ?? AbortSignal.timeout(hangsAfterMs);
  const rest = { withWorkspaces: options.withWorkspaces ?? false, passphrase: options.passphrase };
  try {
    return await makeBackup({ config, db, artifactStore }, { to, cause: 'command', signal, ...rest });
  } finally {
    artifactStore.close();
  }
}

export function restoreInto(config: Config, file: string, passphrase?: string) {
  const source = { read: () => createReadStream(file) };
  return restoreBackup({ config, source, passphrase, log: silentLog, signal: AbortSignal.timeout(hangsAfterMs) });
}

/** A fingerprint of everything that a backup keeps: each table's rows, and each file's bytes. */
export async function contentOf(config: Config, db: Database): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  const { rows: tables } = await db.pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public'
       and tablename not in ('backups', 'maintenance', 'kysely_migration', 'kysely_migration_lock', 'workspace_hosts',
         'workspace_leases', 'audit_events') order by 1`,
  );
  for (const { name } of tables) {
    const row =
      name === 'blobs'
        ? `to_jsonb(t) - 'key'`
        : name === 'installation'
          ? `to_jsonb(t) - 'store_marked' - 'key_canary'`
          : 'to_jsonb(t)';
    const { rows } = await db.pool.query(
      `select count(*) || ' ' || coalesce(md5(string_agg(r, ',' order by r)), '') as sum from (select (${row})::text as r from "${name}" t) x`,
    );
    content[name] = rows[0].sum;
  }
  const store = openBlobStore(config, { assertRoom: async () => undefined });
  try {
    const { rows } = await db.pool.query('select key, sha256, size from blobs');
    for (const { key, sha256, size } of rows) {
      const hash = createHash('sha256');
      if (size > 0) await store.read(key, { start: 0, end: size - 1 }, async (bytes) => void hash.update(bytes));
      assert.equal(hash.digest('hex'), sha256);
    }
  } finally {
    store.close();
  }
  return content;
}

const odd = 'tab\tline\nback\\slash \\N \\. quote"\' ünïcödé 🦄 \u2028';

/** A user with conversations and files; texts that a faulty copy of a table would change. */
export async function fill(user: SignedIn): Promise<string> {
  const chatId = await createChat(user, { title: odd.trim().slice(0, 60).replaceAll(/\s/g, ' ') });
  for (const [name, bytes] of [
    ['empty.txt', ''],
    ['small.txt', odd],
    ['large.bin', Buffer.alloc(700_000, `${user.id} `)],
  ] as const) {
    const { status, text } = await upload(user, { chatId }, { name, bytes });
    assert.equal(status, 201, text);
  }
  return chatId;
}

/** Messages in one statement. */
export async function talk(db: Database, chatId: string, count: number): Promise<void> {
  await db.pool.query(
    `insert into messages (id, chat_id, role, parts, status, search)
     select 'm-' || $1 || n, $1, 'user', jsonb_build_array(jsonb_build_object('type', 'text', 'text', $2::text || n))::text,
       'complete', to_tsvector('simple', 'word' || n || ' and ''quoted'' text') from generate_series(1, $3::int) n`,
    [chatId, odd, count],
  );
}
