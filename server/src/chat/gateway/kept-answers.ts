import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { Queryable } from '../../db/pool.ts';

/** SQL of `gateway_answers`: only this file reads and writes it. */

/** An answer as its client got it. */
export type KeptAnswer = { mediaType: string; text: string };

/** A request with a key of its client. `hash` covers the address and the body. */
export type KeyedRequest = { ownerId: string; key: string; hash: Buffer };

type Claim = { runId: string } | { answer: KeptAnswer } | 'running';
type Row = { isSame: boolean; mediaType: string | null; answer: string | null; isBroken: boolean };

/** A run that was not renewed for this long has broken off; it is started again once. */
const lease = sql`now() + interval '15 seconds'`;
const runsMax = 2;
const sweptAtOnce = 100;

/**
 * Begins the run of a key, or finds its answer. Throws `input_conflict` for another body, `rate_limited` for too many
 * keys, and `provider_unreachable` where the run broke off twice.
 */
export async function claimAnswer(db: Queryable, { ownerId, key, hash }: KeyedRequest): Promise<Claim> {
  await sweep(db);
  const runId = randomUUIDv7();
  const claimed = await sql`
    insert into gateway_answers as g (owner_id, key, body_hash, run_id, runs, lease_until)
    select ${ownerId}, ${key}, ${hash}, ${runId}, 1, ${lease}
    on conflict (owner_id, key) do update set run_id = excluded.run_id, runs = g.runs + 1, lease_until = excluded.lease_until
    where g.answer is null and g.lease_until < now() and g.runs < ${runsMax} and g.body_hash = excluded.body_hash
    returning run_id`.execute(db);
  if (claimed.rows.length > 0) {
    await assertRoom(db, { ownerId, key });
    return { runId };
  }
  const { rows } = await sql<Row>`
    select body_hash = ${hash} as "isSame", media_type as "mediaType", answer, lease_until < now() as "isBroken"
    from gateway_answers where owner_id = ${ownerId} and key = ${key}`.execute(db);
  const [row] = rows;
  if (row === undefined) return 'running';
  if (!row.isSame) throw new ApiError('input_conflict', 'This idempotency-key was used for another request');
  if (row.answer !== null) return { answer: { mediaType: row.mediaType ?? 'application/json', text: row.answer } };
  if (row.isBroken) throw new ApiError('provider_unreachable', 'The answer of this idempotency-key broke off twice');
  return 'running';
}

/** Keeps a run from counting as broken off. */
export async function renewRun(db: Queryable, runId: string, { ownerId, key }: KeyedRequest): Promise<void> {
  await sql`
    update gateway_answers set lease_until = ${lease}
    where owner_id = ${ownerId} and key = ${key} and run_id = ${runId}`.execute(db);
}

/** Stores the answer of a run; nothing if another run has taken the key over. */
export async function keepAnswer(
  db: Queryable,
  runId: string,
  { ownerId, key }: KeyedRequest,
  { mediaType, text }: KeptAnswer,
): Promise<void> {
  await sql`
    update gateway_answers set media_type = ${mediaType}, answer = ${text}
    where owner_id = ${ownerId} and key = ${key} and run_id = ${runId}`.execute(db);
}

/** Frees the key of a run that has no answer, so that the request can be sent again. */
export async function dropRun(db: Queryable, runId: string, { ownerId, key }: KeyedRequest): Promise<void> {
  await sql`
    delete from gateway_answers
    where owner_id = ${ownerId} and key = ${key} and run_id = ${runId} and answer is null`.execute(db);
}

async function assertRoom(db: Queryable, { ownerId, key }: Pick<KeyedRequest, 'ownerId' | 'key'>): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from gateway_answers where owner_id = ${ownerId}`.execute(db);
  if ((rows[0]?.count ?? 0) <= limits.gatewayKeysMax) return;
  await sql`delete from gateway_answers where owner_id = ${ownerId} and key = ${key} and answer is null`.execute(db);
  const message = `An account has at most ${limits.gatewayKeysMax} idempotency keys in 24 hours`;
  throw new ApiError('rate_limited', message, { retryAfter: 3600 });
}

async function sweep(db: Queryable): Promise<void> {
  await sql`
    delete from gateway_answers where (owner_id, key) in (
      select owner_id, key from gateway_answers where created_at < now() - interval '24 hours' limit ${sweptAtOnce}
      for update skip locked)`.execute(db);
}
