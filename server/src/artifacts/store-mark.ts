import { sql } from 'kysely';
import type { Database } from '../db/pool.ts';
import type { BlobStore } from './blob-store.ts';

/**
 * Which installation owns this file store. The installation's name is in the database and in the store, so that files
 * are never looked for, or swept, in another installation's store. Only this file writes `store_marked`.
 */

type Needs = { db: Database; artifactStore: BlobStore };

/** `missing`: the store has no name, but this installation's files are in a store that had one. */
export type StoreState = 'own' | 'foreign' | 'missing';

/**
 * Compares the names; a store without one gets this installation's, unless its files must be elsewhere. Throws if the
 * store is unavailable.
 */
export async function checkStore({ db, artifactStore }: Needs): Promise<StoreState> {
  const { rows } = await sql<{ id: string; expected: boolean }>`
    select id, store_marked and exists (select from blobs) as expected from installation`.execute(db.kysely);
  const [installation] = rows;
  if (installation === undefined) throw new Error('the row of the installation is missing');
  const { id, expected } = installation;
  let found = await artifactStore.readMark();
  if (found === undefined && expected) return 'missing';
  if (found === undefined) {
    await artifactStore.prepare();
    await artifactStore.writeMark(id);
    found = await artifactStore.readMark();
  }
  if (found !== id) return 'foreign';
  await db.kysely.updateTable('installation').set({ store_marked: true }).where('store_marked', '=', false).execute();
  return 'own';
}

/** Makes the store this installation's, whatever it was. */
export async function adoptStore({ db, artifactStore }: Needs): Promise<void> {
  const { id } = await db.kysely.selectFrom('installation').select('id').executeTakeFirstOrThrow();
  await artifactStore.prepare();
  await artifactStore.writeMark(id);
  await db.kysely.updateTable('installation').set({ store_marked: true }).execute();
}
