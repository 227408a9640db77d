import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import type { Queryable } from '../../db/pool.ts';
import { hasOpenInvitation } from '../invitations.ts';
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
  const { rows } = await sql<KnownUser & { owns: boolean; isUnclaimed: boolean }>`
    select u.id, u.name, u.email, u.enabled, c.id is not null as owns,
      not exists (select from credentials other where other.user_id = u.id) as "isUnclaimed"
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
