import { hash } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { sql, type Transaction } from 'kysely';
import { addressBucket } from '../client-address.ts';
import type { Clock } from '../clock.ts';
import { type Database, inTransaction } from '../db/pool.ts';
import type { Tables } from '../db/tables.ts';

/** Limits on wrong passwords and invitation tokens (contract section 3), counted in `sign_in_failures`, whose only writer this is. */

export type SignInLimitDeps = { db: Pick<Database, 'kysely'>; clock: Clock };
type Attempt = { id: number; address: string; account: string };

const windowMs = 10 * 60_000;
const mostFailures = { account: 10, address: 30 };
// A try without an outcome after this long was interrupted, and counts as a wrong one.
const longestAttemptMs = 30_000;
// Tries beyond the limit wait for those under way, which may well be right: a household behind one address signs in together.
const retryEveryMs = 100;
const retries = 100;
const prunedAtOnce = 100;

/**
 * Runs one check of a password within the limits: its try is reserved before the check, so that any number of tries at once, on
 * any replica, stay within them. A right password forgets the earlier wrong ones for this account from this address; a check
 * that throws is not counted. Throws `rate_limited`.
 */
export async function withinSignInLimit<T extends { right: boolean }>(
  deps: SignInLimitDeps,
  who: { address: string; email: string; signal: AbortSignal },
  check: () => Promise<T>,
): Promise<T> {
  const attempt = await reserve(deps, who);
  let result: T;
  try {
    result = await check();
  } catch (error) {
    await forget(deps, attempt, false).catch(() => undefined);
    throw error;
  }
  await (result.right ? forget(deps, attempt, true) : markFailed(deps, attempt));
  return result;
}

const guesses = 'invitation token';

/** Throws `rate_limited` when there were too many wrong invitation tokens, or wrong passwords, from this address. */
export async function assertFewGuesses(deps: SignInLimitDeps, address: string): Promise<void> {
  const now = deps.clock.now();
  const rows = await deps.db.kysely
    .selectFrom('sign_in_failures')
    .select('at')
    .where('address', '=', addressBucket(address))
    .where('at', '>', new Date(now - windowMs))
    .where('failed', '=', true)
    .orderBy('at')
    .execute();
  const wait = secondsToWait(
    rows.map(({ at }) => at.getTime()),
    mostFailures.address,
    now,
  );
  if (wait > 0) throw rateLimited(wait);
}

/** Counts a wrong invitation token like a wrong password from this address. */
export async function recordGuess(deps: SignInLimitDeps, address: string): Promise<void> {
  const at = new Date(deps.clock.now());
  const row = { address: addressBucket(address), email: accountKey(guesses), failed: true, at };
  await inTransaction(deps.db, async (transaction) => {
    await prune(transaction, deps.clock.now());
    await transaction.insertInto('sign_in_failures').values(row).execute();
  });
}

async function reserve(
  deps: SignInLimitDeps,
  who: { address: string; email: string; signal: AbortSignal },
): Promise<Attempt> {
  const key = { address: addressBucket(who.address), account: accountKey(who.email) };
  for (let retry = 0; retry < retries; retry += 1) {
    const answer = await inTransaction(deps.db, (transaction) => tryReserve(transaction, key, deps.clock.now()));
    if (typeof answer === 'object') return { id: answer.id, ...key };
    if (answer !== 'busy') throw rateLimited(answer);
    await deps.clock.sleep(retryEveryMs, who.signal);
  }
  throw rateLimited(1);
}

async function markFailed(deps: SignInLimitDeps, attempt: Attempt): Promise<void> {
  await deps.db.kysely.updateTable('sign_in_failures').set({ failed: true }).where('id', '=', attempt.id).execute();
}

async function forget(deps: SignInLimitDeps, attempt: Attempt, withFailures: boolean): Promise<void> {
  await deps.db.kysely
    .deleteFrom('sign_in_failures')
    .where('address', '=', attempt.address)
    .where('email', '=', attempt.account)
    .where((where) => where.or([where('id', '=', attempt.id), ...(withFailures ? [where('failed', '=', true)] : [])]))
    .execute();
}

/** A reservation, `busy` when tries under way fill the limit, or the seconds until another try is allowed. */
async function tryReserve(
  transaction: Transaction<Tables>,
  key: { address: string; account: string },
  now: number,
): Promise<{ id: number } | 'busy' | number> {
  await sql`select pg_advisory_xact_lock(hashtextextended('sign-in ' || ${key.address}, 0))`.execute(transaction);
  await prune(transaction, now);
  const rows = await transaction
    .selectFrom('sign_in_failures')
    .select(['email', 'at', 'failed'])
    .where('address', '=', key.address)
    .where('at', '>', new Date(now - windowMs))
    .orderBy('at')
    .execute();
  const tries = rows.map(({ email, at, failed }) => ({
    at: at.getTime(),
    own: email === key.account,
    failed: failed || at.getTime() < now - longestAttemptMs,
  }));
  const own = tries.filter((attempt) => attempt.own);
  const wait = Math.max(
    secondsToWait(failures(own), mostFailures.account, now),
    secondsToWait(failures(tries), mostFailures.address, now),
  );
  if (wait > 0) return wait;
  if (own.length >= mostFailures.account || tries.length >= mostFailures.address) return 'busy';
  return transaction
    .insertInto('sign_in_failures')
    .values({ address: key.address, email: key.account, at: new Date(now) })
    .returning('id')
    .executeTakeFirstOrThrow();
}

function failures(tries: readonly { at: number; failed: boolean }[]): number[] {
  return tries.filter((attempt) => attempt.failed).map((attempt) => attempt.at);
}

/** 0 while fewer than `most` failures are in the window; else the time until enough of them have left it. */
function secondsToWait(times: readonly number[], most: number, now: number): number {
  const freeing = times[times.length - most];
  return freeing === undefined ? 0 : Math.max(1, Math.ceil((freeing + windowMs - now) / 1000));
}

/** Each new row removes many old ones, of any address. */
async function prune(transaction: Transaction<Tables>, now: number): Promise<void> {
  const old = transaction
    .selectFrom('sign_in_failures')
    .select('id')
    .where('at', '<=', new Date(now - windowMs))
    .limit(prunedAtOnce)
    .forUpdate()
    .skipLocked();
  await transaction.deleteFrom('sign_in_failures').where('id', 'in', old).execute();
}

/** Hashed: people type passwords into the wrong box. */
function accountKey(email: string): string {
  return hash('sha256', email.trim().toLowerCase(), 'base64url');
}

function rateLimited(seconds: number): ApiError {
  return new ApiError('rate_limited', 'Too many wrong attempts; try again later', { retryAfter: seconds });
}
