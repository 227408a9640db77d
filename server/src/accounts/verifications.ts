import { hash, randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';

/** Single-use secrets: pending single sign-ons and preview tickets. */
type Kind = 'oidc' | 'preview';

/** At most this many are kept; each new one removes some old ones. */
const keptMax = 10_000;
const prunedAtOnce = 20;

/**
 * Stores a value that can be redeemed with the secret. Starting a sign-in needs no account, so the count is limited;
 * ids are ordered by time, which makes the oldest rows cheap to find.
 */
export async function insertVerification(
  db: Queryable,
  { kind, secret, value, seconds }: { kind: Kind; secret: string; value: unknown; seconds: number },
  now: number,
): Promise<void> {
  await db
    .insertInto('verifications')
    .values({
      id: randomUUIDv7(),
      identifier: identifierOf(kind, secret),
      value: JSON.stringify(value),
      expires_at: new Date(now + seconds * 1000),
    })
    .execute();
  await sql`
    with oldest as (select id, expires_at from verifications order by id limit ${prunedAtOnce}),
      beyond as (select id from verifications order by id desc offset ${keptMax} limit ${prunedAtOnce})
    delete from verifications where id in (
      select id from oldest where expires_at <= ${new Date(now)} union all select id from beyond)`.execute(db);
}

/** Takes a value once: of several at the same time, one gets it. Undefined if it is not ours, used, or too old. */
export async function takeVerification(db: Queryable, kind: Kind, secret: string, now: number): Promise<unknown> {
  const row = await db
    .deleteFrom('verifications')
    .where('identifier', '=', identifierOf(kind, secret))
    .returning(['value', 'expires_at'])
    .executeTakeFirst();
  if (row === undefined || row.expires_at.getTime() <= now) return undefined;
  return JSON.parse(row.value);
}

/** Hashed, so that a copy of the database contains no usable secret. */
function identifierOf(kind: Kind, secret: string): string {
  return `${kind}:${hash('sha256', secret, 'base64url')}`;
}
