import { secretPlaceholder } from '@homeport/contracts/provision/manifest';
import { findPasswordHashes } from '../accounts/credentials.ts';
import { hashPassword, verifyPassword } from '../accounts/passwords.ts';
import type { Platform } from '../platform.ts';
import type { AccountEntry, ManifestReader } from './manifest/manifest-reader.ts';

/**
 * A password of the manifest, prepared before the transaction, which must not wait for it: `stored` is the hash it was
 * compared with, `hash` the one to store, undefined if the stored one already matches.
 */
type PreparedPassword = { stored: string | null; hash: string | undefined };
export type PreparedPasswords = ReadonlyMap<string, PreparedPassword>;

// As many as passwords.ts runs at once: people who sign in meanwhile wait for one of these, not for all.
const lanes = 2;

/** Compares and hashes the manifest's passwords, by e-mail address. A dry run hashes none. */
export async function preparePasswords(
  deps: Pick<Platform, 'db'>,
  reader: ManifestReader,
  options: { dryRun: boolean; signal: AbortSignal },
): Promise<PreparedPasswords> {
  const prepared = new Map<string, PreparedPassword>();
  for await (const { users } of reader.batches('users')) {
    const entries = users.filter(hasPassword);
    const stored = await findPasswordHashes(
      deps.db.kysely,
      entries.map((entry) => entry.email),
    );
    const queue = entries.values();
    const lane = async (): Promise<void> => {
      for (const { email, password } of queue) {
        options.signal.throwIfAborted();
        prepared.set(email, await prepare(stored.get(email) ?? null, password, options.dryRun));
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }
  return prepared;
}

async function prepare(stored: string | null, password: string, dryRun: boolean): Promise<PreparedPassword> {
  if (stored !== null && (await verifyPassword(stored, password))) return { stored, hash: undefined };
  return { stored, hash: dryRun ? '' : await hashPassword(password) };
}

function hasPassword(entry: AccountEntry): entry is AccountEntry & { password: string } {
  return entry.password !== undefined && entry.password !== secretPlaceholder;
}
