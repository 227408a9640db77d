import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { reseal, type StoredProvider } from './credentials.ts';

type Deps = { db: { kysely: Queryable }; secrets: KeyRing };

/** The result of a rotation, counted in envelopes; `interrupted` if the signal ended it early. */
export type Rotation = { resealed: number; current: number; unreadable: number; interrupted: boolean };

/** An envelope that no key opens. `owner` is the owner's e-mail address, or the id if there is no such account. */
export type UnreadableCredential = { providerId: string; owner: string; column: 'api_key' | 'headers' };

const rotationBatch = 100;

/**
 * Seals all credentials with the current key for their owner and origin, while others may read and change them: one
 * statement per provider, which does nothing if the provider has changed since. Unreadable envelopes stay. With
 * `unboundOnly`, only those without an origin. Throws if a provider keeps changing.
 */
export async function resealProviders(
  deps: Deps,
  options: { signal: AbortSignal; onUnreadable(credential: UnreadableCredential): void; unboundOnly?: boolean },
): Promise<Rotation> {
  const rotation: Rotation = { resealed: 0, current: 0, unreadable: 0, interrupted: false };
  let after = '';
  for (;;) {
    let query = sealedProviders(deps.db.kysely).where('providers.id', '>', after).limit(rotationBatch);
    if (options.unboundOnly) query = query.where(isUnbound);
    const rows = await query.execute();
    if (rows.length === 0) return rotation;
    for (const row of rows) {
      if (options.signal.aborted) return { ...rotation, interrupted: true };
      await resealProvider(deps, row, rotation, options.onUnreadable);
      after = row.id;
    }
  }
}

const isUnbound = sql<boolean>`(providers.api_key like 'v1.%' or providers.headers like 'v1.%')`;

type SealedProvider = StoredProvider & { email: string | null };

function sealedProviders(kysely: Queryable) {
  return kysely
    .selectFrom('providers')
    .leftJoin('users', 'users.id', 'providers.owner_id')
    .select(['providers.id', 'providers.owner_id', 'providers.base_url'])
    .select(['providers.api_key', 'providers.headers', 'users.email'])
    .orderBy('providers.id');
}

async function resealProvider(
  deps: Deps,
  read: SealedProvider,
  rotation: Rotation,
  onUnreadable: (credential: UnreadableCredential) => void,
): Promise<void> {
  let row: SealedProvider | undefined = read;
  for (let attempt = 0; attempt < 10 && row !== undefined; attempt += 1) {
    const { id, owner_id, email }: SealedProvider = row;
    const apiKey = reseal(deps, row, 'api_key', row.api_key);
    const headers = reseal(deps, row, 'headers', row.headers);
    if (await replaceEnvelopes(deps.db.kysely, row, apiKey.envelope, headers.envelope)) {
      for (const [column, { state }] of [['api_key', apiKey] as const, ['headers', headers] as const]) {
        if (state !== 'absent') rotation[state] += 1;
        if (state === 'unreadable') onUnreadable({ providerId: id, owner: email ?? owner_id, column });
      }
      return;
    }
    row = await sealedProviders(deps.db.kysely).where('providers.id', '=', id).executeTakeFirst();
  }
  if (row !== undefined) throw new Error(`Provider ${row.id} keeps changing; try again later`);
}

/** False if the stored provider is no longer the one in `row`. */
async function replaceEnvelopes(
  kysely: Queryable,
  row: SealedProvider,
  apiKey: string | null,
  headers: string | null,
): Promise<boolean> {
  if (apiKey === row.api_key && headers === row.headers) return true;
  const { numUpdatedRows } = await kysely
    .updateTable('providers')
    .set({ api_key: apiKey, headers })
    .where('id', '=', row.id)
    .where('owner_id', '=', row.owner_id)
    .where('base_url', '=', row.base_url)
    .where('api_key', 'is not distinct from', row.api_key)
    .where('headers', 'is not distinct from', row.headers)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
