import { type Selectable, sql } from 'kysely';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { BlobsTable } from '../db/tables/tables.ts';
import type { Platform } from '../platform.ts';
import type { BlobStore, StoredBlob } from './blob-store.ts';

/**
 * The contents of artifacts, each stored once. Only this file writes the table `blobs`. A row is inserted in the
 * transaction that refers to it, and removed only under a lock that excludes such transactions: no artifact is ever
 * without its bytes. Any object in the store without a row is an orphan.
 */

type Needs = Pick<Platform, 'db' | 'log'> & { artifactStore: BlobStore };

const sweepBatch = 500;

/** True for a row of `blobs b` that no artifact, earlier version, assistant, archive to import or share refers to. */
const unused = sql`not exists (select from artifacts a where a.sha256 = b.sha256)
  and not exists (select from artifact_versions v where v.sha256 = b.sha256)
  and not exists (select from assistant_version_files f where f.sha256 = b.sha256)
  and not exists (select from imports i where i.sha256 = b.sha256)
  and not exists (select from share_files s where s.sha256 = b.sha256)`;

/** Inserts the content's row, or finds the existing one; it stays locked until the transaction ends. */
export async function adoptBlob(trx: Queryable, stored: StoredBlob): Promise<Selectable<BlobsTable>> {
  return trx
    .insertInto('blobs')
    .values(stored)
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ size: stored.size }))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The content's key in the store; undefined if its last artifact has been deleted in the meantime. */
export async function findBlobKey(db: Queryable, sha256: string): Promise<string | undefined> {
  return (await db.selectFrom('blobs').select('key').where('sha256', '=', sha256).executeTakeFirst())?.key;
}

/** Removes those contents that no artifact has any more. Failures are left to the sweep. */
export async function releaseBlobs(deps: Needs, contents: readonly string[]): Promise<void> {
  const unique = [...new Set(contents)].slice(0, sweepBatch);
  try {
    if (unique.length > 0) await removeOrphans(deps, unique);
  } catch (error) {
    deps.log.warn({ cause: error }, 'failed to delete the contents of deleted artifacts; trying again later');
  }
}

/** Removes a stored blob that nothing refers to. Failures are left to the sweep. */
export async function discardStored(deps: Needs, stored: StoredBlob): Promise<void> {
  await deps.artifactStore.remove([stored.key]).catch((error: unknown) => {
    deps.log.warn({ cause: error }, 'failed to delete a refused upload; trying again later');
  });
}

/**
 * Removes contents without artifacts, then what has been in the store for `ageMs` without a row: uploads cut off by a
 * crash. An upload gets its row well within that time. Resolves with the number of blobs removed.
 */
export async function sweepBlobs(deps: Needs, ageMs: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const rows = await findOrphans(deps.db.kysely);
    const count = rows.length === 0 ? 0 : await removeOrphans(deps, rows);
    removed += count;
    // Rows that others hold are removed by the next sweep.
    if (count === 0) break;
  }
  await deps.artifactStore.removeUnfinished(ageMs);
  for await (const keys of deps.artifactStore.listOlder(ageMs)) {
    const known = await deps.db.kysely.selectFrom('blobs').select('key').where('key', 'in', keys).execute();
    const owned = new Set(known.map((row) => row.key));
    const strays = keys.filter((key) => !owned.has(key));
    await deps.artifactStore.remove(strays);
    removed += strays.length;
  }
  return removed;
}

async function findOrphans(db: Queryable): Promise<string[]> {
  const { rows } = await sql<{ sha256: string }>`
    select b.sha256 from blobs b where ${unused}
    limit ${sweepBatch}`.execute(db);
  return rows.map((row) => row.sha256);
}

/**
 * While a backup is made, contents stay: the instant that it shows may name them. `holdContents` waits for removals
 * that have begun, and those that begin later see its row.
 */
const removalLock = 4_203_319;

/** Inserts the row of a running backup so that no content is removed from now on; `insert` runs in the transaction. */
export async function holdContents(
  db: Pick<Database, 'kysely'>,
  insert: (trx: Queryable) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(${removalLock})`.execute(trx);
    await insert(trx);
  });
}

/** Each statement sees everything committed before the one before it got its locks. */
async function removeOrphans(deps: Needs, contents: readonly string[]): Promise<number> {
  const keys = await inTransaction(deps.db, async (trx) => {
    await sql`select pg_advisory_xact_lock_shared(${removalLock})`.execute(trx);
    const { rows: locked } = await sql<{ sha256: string }>`
      select sha256 from blobs where sha256 = any(${contents}) for update skip locked`.execute(trx);
    const { rows } = await sql<{ key: string }>`
      delete from blobs b where b.sha256 = any(${locked.map((row) => row.sha256)})
        and ${unused}
        and not exists (select from backups where state = 'running' and lease_until > now())
      returning b.key`.execute(trx);
    return rows.map((row) => row.key);
  });
  await deps.artifactStore.remove(keys);
  return keys.length;
}
