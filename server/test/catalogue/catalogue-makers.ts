import { randomUUIDv7 } from 'node:crypto';
import { createModel } from '../../src/catalogue/models.ts';
import { createProvider } from '../../src/catalogue/providers.ts';
import type { Database } from '../../src/db/pool.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createKeyRing } from '../../src/secrets/key-ring.ts';

/** Makers of catalogue records for tests, by way of the catalogue's functions. */

export const encryptionKey = 'a test encryption key of more than 32 bytes';

export type CatalogueTestDeps = ReturnType<typeof catalogueDeps>;

export function catalogueDeps(db: Database, key = encryptionKey, previous: string[] = []) {
  return { db, secrets: createKeyRing({ current: key, previous }), clock: systemClock };
}

export function makeOwner(): string {
  return randomUUIDv7();
}

export async function makeProvider(
  deps: CatalogueTestDeps,
  owner: string,
  fields: Partial<Parameters<typeof createProvider>[2]> = {},
): Promise<string> {
  const input = { name: 'Provider', baseUrl: 'https://api.example.org/v1', ...fields };
  return (await createProvider(deps, owner, input)).id;
}

export async function makeModel(
  deps: CatalogueTestDeps,
  owner: string,
  providerId: string,
  fields: Partial<Parameters<typeof createModel>[2]> = {},
): Promise<string> {
  return (await createModel(deps, owner, { ...modelInput(providerId), ...fields })).id;
}

export function modelInput(providerId: string) {
  return {
    providerId,
    providerModelId: 'model',
    displayName: 'Model',
    contextWindow: 8000,
    maxOutputTokens: 1000,
    tier: 2,
  };
}

/** The id of an owner's default model, straight from the table. */
export async function storedDefault(db: Database, owner: string): Promise<string | null> {
  const { rows } = await db.pool.query<{ id: string }>('select id from models where owner_id = $1 and is_default', [
    owner,
  ]);
  if (rows.length > 1) throw new Error('Two default models');
  return rows[0]?.id ?? null;
}
