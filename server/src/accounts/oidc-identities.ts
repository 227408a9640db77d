import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { Facts, KnownUser } from './oidc-policy.ts';

/** Better Auth's name for the identity provider in `credentials`: the key in our addresses may be renamed, identities stay. */
export const oidcProviderId = 'oidc';

/** An identity is (issuer, sub) (contract section 3). An issuer has no fragment, so the two cannot be cut differently. */
export function identityOf(issuer: string, subject: string): string {
  return `${issuer}#${subject}`;
}

/**
 * What is known about an identity and an address before anything is decided: one statement, so that an account which comes at this
 * moment is seen with its identity or not at all.
 */
export async function findFacts(db: Queryable, identity: string, email: string | undefined): Promise<Facts> {
  const { rows } = await sql<KnownUser & { owns: boolean }>`
    select u.id, u.email, u.enabled, c.id is not null as owns from users u
    left join credentials c on c.user_id = u.id and c.provider_id = ${oidcProviderId} and c.account_id = ${identity}
    where u.id = (select user_id from credentials where provider_id = ${oidcProviderId} and account_id = ${identity})
      or u.email = ${email ?? null}`.execute(db);
  const { complete } = await db
    .selectFrom('installation')
    .select(sql<boolean>`setup_completed_at is not null or exists (select 1 from users)`.as('complete'))
    .executeTakeFirstOrThrow();
  const known = ({ id, email, enabled }: KnownUser): KnownUser => ({ id, email, enabled });
  return {
    owner: rows.filter(({ owns }) => owns).map(known)[0],
    sameEmail: rows.filter((row) => row.email === email).map(known)[0],
    setupIsComplete: complete,
  };
}
