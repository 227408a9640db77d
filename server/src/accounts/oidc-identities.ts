import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { Facts } from './oidc-policy.ts';

/** Better Auth's name for the identity provider in `credentials`: the key in our addresses may be renamed, identities stay. */
export const oidcProviderId = 'oidc';

/** An identity is (issuer, sub) (contract section 3). An issuer has no fragment, so the two cannot be cut differently. */
export function identityOf(issuer: string, subject: string): string {
  return `${issuer}#${subject}`;
}

/** What is known about an identity and an address before anything is decided. */
export async function findFacts(db: Queryable, identity: string, email: string | undefined): Promise<Facts> {
  const columns = ['users.id', 'users.email', 'users.enabled'] as const;
  const owner = await db
    .selectFrom('credentials')
    .innerJoin('users', 'users.id', 'credentials.user_id')
    .select(columns)
    .where('credentials.provider_id', '=', oidcProviderId)
    .where('credentials.account_id', '=', identity)
    .executeTakeFirst();
  const sameEmail =
    email === undefined
      ? undefined
      : await db.selectFrom('users').select(columns).where('email', '=', email).executeTakeFirst();
  const { complete } = await db
    .selectFrom('installation')
    .select(sql<boolean>`setup_completed_at is not null or exists (select 1 from users)`.as('complete'))
    .executeTakeFirstOrThrow();
  return { owner, sameEmail, setupIsComplete: complete };
}
