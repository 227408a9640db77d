import { hash, randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Queryable } from '../db/pool.ts';

/** Single sign-ons that have begun but not ended; the only writer of `verifications`. */

const begunSchema = z.object({
  /** The provider and client where it began. */
  federation: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  callbackURL: z.string(),
  errorCallbackURL: z.string(),
});
export type BegunSignIn = z.infer<typeof begunSchema>;

export const stateSeconds = 300;
/** At most this many are kept; each new one removes some old ones. */
const begunMax = 10_000;
const prunedAtOnce = 20;

/**
 * Stores what a sign-in needs at its end. Anybody may begin one; ids are in order of time, so the oldest are found
 * quickly.
 */
export async function insertState(db: Queryable, state: string, begun: BegunSignIn, now: number): Promise<void> {
  await db
    .insertInto('verifications')
    .values({
      id: randomUUIDv7(),
      identifier: identifierOf(state),
      value: JSON.stringify(begun),
      expires_at: new Date(now + stateSeconds * 1000),
    })
    .execute();
  await sql`
    with oldest as (select id, expires_at from verifications order by id limit ${prunedAtOnce}),
      beyond as (select id from verifications order by id desc offset ${begunMax} limit ${prunedAtOnce})
    delete from verifications where id in (
      select id from oldest where expires_at <= ${new Date(now)} union all select id from beyond)`.execute(db);
}

/**
 * Takes a state once: of several simultaneous callbacks, one gets it. Undefined if it is not ours, used, or too old.
 */
export async function takeState(db: Queryable, state: string, now: number): Promise<BegunSignIn | undefined> {
  const row = await db
    .deleteFrom('verifications')
    .where('identifier', '=', identifierOf(state))
    .returning(['value', 'expires_at'])
    .executeTakeFirst();
  if (row === undefined || row.expires_at.getTime() <= now) return undefined;
  return begunSchema.parse(JSON.parse(row.value));
}

/** Hashed, so that what is in the database cannot be sent back. */
function identifierOf(state: string): string {
  return `oidc:${hash('sha256', state, 'base64url')}`;
}
