import { randomUUIDv7 } from 'node:crypto';
import type { Identity } from '@homeport/contracts/accounts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { type AuditSource, recordEvent } from '../../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../../db/pool.ts';
import { findPasswordHash } from '../credentials.ts';
import { hasOpenInvitation } from '../invitations.ts';
import { lockUser } from '../users.ts';
import type { Facts, KnownUser } from './policy.ts';

/**
 * The identity provider's name in `credentials`, whatever its key in our addresses: the key can be renamed, identities
 * stay.
 */
const oidcProviderId = 'oidc';

/**
 * An identity is (issuer, sub) (contract.md section 3). Issuers have no fragment, so the text can be split in one way
 * only.
 */
export function identityOf(issuer: string, subject: string): string {
  return `${issuer}#${subject}`;
}

/**
 * Finds the accounts that match an identity or an email address. One statement, so that an account created concurrently
 * is seen with its identity or not at all. Locks these accounts: they cannot be disabled until the transaction ends.
 */
export async function findFacts(
  transaction: Queryable,
  identity: string,
  email: string | undefined,
  now: number,
): Promise<Facts> {
  const { rows } = await sql<KnownUser & { owns: boolean }>`
    select u.id, u.name, u.email, u.enabled, c.id is not null as owns
    from users u
    left join credentials c on c.user_id = u.id and c.provider_id = ${oidcProviderId} and c.account_id = ${identity}
    where u.id = (select user_id from credentials where provider_id = ${oidcProviderId} and account_id = ${identity})
      or u.email = ${email ?? null}
    for key share of u`.execute(transaction);
  const { complete } = await transaction
    .selectFrom('installation')
    .select(sql<boolean>`setup_completed_at is not null or exists (select 1 from users)`.as('complete'))
    .executeTakeFirstOrThrow();
  return {
    owner: rows.find(({ owns }) => owns),
    sameEmail: rows.find((row) => row.email === email),
    isInvited: email !== undefined && (await hasOpenInvitation(transaction, email, now)),
    setupIsComplete: complete,
  };
}

/** Gives an account this identity; false if it already belongs to one. */
export async function insertIdentity(
  db: Queryable,
  userId: string,
  { issuer, identity }: { issuer: string; identity: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('credentials')
    .values({ id: randomUUIDv7(), user_id: userId, account_id: identity, provider_id: oidcProviderId, issuer })
    .onConflict((conflict) => conflict.columns(['provider_id', 'account_id']).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** The identities of an account, oldest first. */
export async function listIdentities(db: Queryable, userId: string): Promise<Identity[]> {
  const rows = await identitiesOf(db, userId).execute();
  return rows.map(({ id, account_id, created_at }) => {
    const at = account_id.indexOf('#');
    const createdAt = created_at.toISOString();
    return { id, issuer: account_id.slice(0, at), subject: account_id.slice(at + 1), createdAt };
  });
}

/** Removes an identity of an account. Throws `not_found`, and `last_sign_in_method` if no other way to sign in is left. */
export async function removeIdentity(
  deps: { db: Pick<Database, 'kysely'> },
  userId: string,
  id: string,
  by: AuditSource,
): Promise<void> {
  await inTransaction(deps.db, async (transaction) => {
    // Two removals at once must not leave none.
    await lockUser(transaction, userId);
    const identities = await identitiesOf(transaction, userId).execute();
    if (!identities.some((identity) => identity.id === id)) throw new ApiError('not_found', 'Identity not found');
    if (identities.length === 1 && (await findPasswordHash(transaction, userId)) === undefined) {
      throw new ApiError('last_sign_in_method', 'This is the only way to sign in to your account');
    }
    await transaction.deleteFrom('credentials').where('id', '=', id).where('user_id', '=', userId).execute();
    await recordEvent(transaction, by, { action: 'oidc.unlinked', targetType: 'user', targetId: userId });
  });
}

/** Far more than a person has. */
const identitiesMax = 100;

function identitiesOf(db: Queryable, userId: string) {
  return db
    .selectFrom('credentials')
    .select(['id', 'account_id', 'created_at'])
    .where('user_id', '=', userId)
    .where('provider_id', '=', oidcProviderId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(identitiesMax);
}
