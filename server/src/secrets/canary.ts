import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import { type KeyRing, open, type SecretPlace, seal } from './key-ring.ts';
import { readable, reseal } from './reseal.ts';

/**
 * A text in the row of `installation`, sealed with the installation's key; a process that cannot open it has another
 * key. Only this file writes `key_canary`; accounts/setup.ts and artifacts/store-mark.ts write other columns of that
 * row.
 */

type Needs = { db: Database; secrets: KeyRing };

const place: SecretPlace = { table: 'installation', row: 'installation', column: 'key_canary' };
const text = 'This is the key of the installation.';

/** Whether one of the ring's keys is the installation's. The first process to ask seals the text with its own key. */
export async function opensCanary({ db, secrets }: Needs): Promise<boolean> {
  await db.kysely
    .updateTable('installation')
    .set({ key_canary: seal(secrets, place, text) })
    .where('key_canary', 'is', null)
    .execute();
  const { key_canary } = await db.kysely.selectFrom('installation').select('key_canary').executeTakeFirstOrThrow();
  return key_canary !== null && readable(() => open(secrets, place, key_canary)) !== undefined;
}

/** The same without changing anything: true as long as no process has sealed the text. */
export async function fitsCanary({ db, secrets }: Needs): Promise<boolean> {
  const { key_canary } = await db.kysely.selectFrom('installation').select('key_canary').executeTakeFirstOrThrow();
  return key_canary === null || readable(() => open(secrets, place, key_canary)) !== undefined;
}

/** Seals the text with the current key; false if no key of the ring opens it. */
export async function resealCanary({ db, secrets }: Needs): Promise<boolean> {
  return inTransaction(db, async (transaction) => {
    const row = await transaction.selectFrom('installation').select('key_canary').forUpdate().executeTakeFirstOrThrow();
    const { state, envelope } = reseal(secrets, place, row.key_canary);
    if (state === 'resealed') {
      await transaction.updateTable('installation').set({ key_canary: envelope }).execute();
    }
    return state !== 'unreadable';
  });
}

/** Makes the current key the installation's, replacing any earlier one. */
export async function replaceCanary(db: Queryable, secrets: KeyRing): Promise<void> {
  await db
    .updateTable('installation')
    .set({ key_canary: seal(secrets, place, text) })
    .execute();
}
