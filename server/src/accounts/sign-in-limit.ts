import { hash } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { comparableEmail } from '@homeport/contracts/text/email';
import { sql, type Transaction } from 'kysely';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { Tables } from '../db/tables/tables.ts';
import { addressBucket, addressRegion } from '../platform/client-address.ts';
import type { Clock } from '../platform/clock.ts';
import { FairTurns } from '../platform/concurrency/fair-turns.ts';

/**
 * Limits on wrong passwords and invitation tokens (contract.md section 3), counted in `sign_in_failures`. The only
 * writer of that table and of `sign_in_addresses`.
 */

export type SignInLimitDeps = { db: Pick<Database, 'kysely'>; clock: Clock };
type Key = { address: string; account: string };
type Attempt = Key & { id: number };
/** The account that signed in from this address within the last month: this one, another one, or none. */
type Known = 'account' | 'address' | 'nobody';

const windowMs = 10 * 60_000;
/** `known`: for all accounts together that have signed in from the address; others cannot use up this limit. */
const mostFailures = { account: 10, address: 30, known: 30 };
// An attempt without an outcome after this long was interrupted and counts as wrong.
const longestAttemptMs = 30_000;
// Attempts above the limit wait for running ones on another replica, which may turn out to be right.
const retryEveryMs = 100;
const knownDays = 30;
const prunedAtOnce = 100;

/** Two hashes run at once (passwords.ts); the other turns do the reading and writing before and after theirs. */
const turns = new FairTurns({
  atOnce: 4,
  waiting: 1_000,
  waitMs: 50_000,
  busy: 'Too many sign-ins right now. Try again in a moment.',
});
const busyMax = 100;

/**
 * Runs one password check within the limits. Its attempt is reserved first, so that simultaneous attempts on any
 * replica stay within them. The right password clears this account's wrong ones from this address; a check that throws
 * is not counted. Networks take turns, known addresses first. Throws `rate_limited`.
 */
export async function withinSignInLimit<T extends { right: boolean }>(
  deps: SignInLimitDeps,
  who: { address: string; email: string; signal: AbortSignal },
  check: () => Promise<T>,
): Promise<T> {
  const key = { address: addressBucket(who.address), account: accountKey(who.email) };
  const known = await findKnown(deps, key);
  const taker = {
    lane: addressRegion(who.address),
    isKnown: known !== 'nobody',
    signal: who.signal,
    target: key.account,
  };
  for (let tries = 0; tries < busyMax; tries += 1) {
    const result = await turns.take(taker, () => tryOnce(deps, key, known, check));
    if (result !== 'busy') return result;
    await deps.clock.sleep(retryEveryMs, who.signal);
  }
  throw rateLimited(1);
}

async function tryOnce<T extends { right: boolean }>(
  deps: SignInLimitDeps,
  key: Key,
  known: Known,
  check: () => Promise<T>,
): Promise<T | 'busy'> {
  const now = deps.clock.now();
  const answer = await inTransaction(deps.db, (transaction) => tryReserve(transaction, key, known, now));
  if (answer === 'busy') return answer;
  if (typeof answer === 'number') throw rateLimited(answer);
  const attempt = { id: answer.id, ...key };
  let result: T;
  try {
    result = await check();
  } catch (error) {
    await forget(deps.db.kysely, attempt, false).catch(() => undefined);
    throw error;
  }
  await (result.right ? succeed(deps, attempt) : markFailed(deps, attempt));
  return result;
}

const guesses = 'invitation token';

/** Throws `rate_limited` if there were too many wrong invitation tokens or passwords from this address. */
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

/** Counts a wrong invitation token from this address like a wrong password. */
export async function recordGuess(deps: SignInLimitDeps, address: string): Promise<void> {
  const at = new Date(deps.clock.now());
  const row = { address: addressBucket(address), email: accountKey(guesses), failed: true, at };
  await inTransaction(deps.db, async (transaction) => {
    await prune(transaction, 'sign_in_failures', deps.clock.now() - windowMs);
    await transaction.insertInto('sign_in_failures').values(row).execute();
  });
}

async function findKnown({ db, clock }: SignInLimitDeps, { address, account }: Key): Promise<Known> {
  const row = await db.kysely
    .selectFrom('sign_in_addresses')
    .select(sql<boolean | null>`bool_or(email = ${account})`.as('own'))
    .where('address', '=', address)
    .where('at', '>', new Date(clock.now() - knownDays * 86_400_000))
    .executeTakeFirstOrThrow();
  if (row.own === null) return 'nobody';
  return row.own ? 'account' : 'address';
}

async function succeed(deps: SignInLimitDeps, attempt: Attempt): Promise<void> {
  const now = deps.clock.now();
  const { address, account: email } = attempt;
  await inTransaction(deps.db, async (transaction) => {
    await forget(transaction, attempt, true);
    await transaction
      .insertInto('sign_in_addresses')
      .values({ address, email, at: new Date(now) })
      .onConflict((conflict) => conflict.columns(['address', 'email']).doUpdateSet({ at: new Date(now) }))
      .execute();
    await prune(transaction, 'sign_in_addresses', now - knownDays * 86_400_000);
  });
}

async function markFailed(deps: SignInLimitDeps, attempt: Attempt): Promise<void> {
  await deps.db.kysely.updateTable('sign_in_failures').set({ failed: true }).where('id', '=', attempt.id).execute();
}

async function forget(db: Queryable, attempt: Attempt, withFailures: boolean): Promise<void> {
  await db
    .deleteFrom('sign_in_failures')
    .where('address', '=', attempt.address)
    .where('email', '=', attempt.account)
    .where((where) => where.or([where('id', '=', attempt.id), ...(withFailures ? [where('failed', '=', true)] : [])]))
    .execute();
}

/**
 * A reservation, `busy` if running attempts fill the limit, or the seconds until the next attempt is allowed. Accounts
 * that have signed in from this address share a limit that only wrong passwords for such accounts use up.
 */
async function tryReserve(
  transaction: Transaction<Tables>,
  key: Key,
  known: Known,
  now: number,
): Promise<{ id: number } | 'busy' | number> {
  await sql`select pg_advisory_xact_lock(hashtextextended('sign-in ' || ${key.address}, 0))`.execute(transaction);
  await prune(transaction, 'sign_in_failures', now - windowMs);
  const rows = await transaction
    .selectFrom('sign_in_failures')
    .leftJoin('sign_in_addresses as known', (join) =>
      join
        .onRef('known.address', '=', 'sign_in_failures.address')
        .onRef('known.email', '=', 'sign_in_failures.email')
        .on('known.at', '>', new Date(now - knownDays * 86_400_000)),
    )
    .select(['sign_in_failures.email', 'sign_in_failures.at', 'failed', 'known.email as known'])
    .where('sign_in_failures.address', '=', key.address)
    .where('sign_in_failures.at', '>', new Date(now - windowMs))
    .orderBy('sign_in_failures.at')
    .execute();
  const tries = rows.map(({ email, at, failed, known }) => ({
    at: at.getTime(),
    own: email === key.account,
    known: known !== null,
    failed: failed || at.getTime() < now - longestAttemptMs,
  }));
  const own = tries.filter((attempt) => attempt.own);
  const isKnown = known === 'account';
  const all = isKnown ? tries.filter((attempt) => attempt.known) : tries;
  const most = isKnown ? mostFailures.known : mostFailures.address;
  const wait = Math.max(
    secondsToWait(failures(own), mostFailures.account, now),
    secondsToWait(failures(all), most, now),
  );
  if (wait > 0) return wait;
  if (own.length >= mostFailures.account || all.length >= most) return 'busy';
  return transaction
    .insertInto('sign_in_failures')
    .values({ address: key.address, email: key.account, at: new Date(now) })
    .returning('id')
    .executeTakeFirstOrThrow();
}

function failures(tries: readonly { at: number; failed: boolean }[]): number[] {
  return tries.filter((attempt) => attempt.failed).map((attempt) => attempt.at);
}

/** 0 while fewer than `most` failures are in the window; otherwise the time until enough of them have left it. */
function secondsToWait(times: readonly number[], most: number, now: number): number {
  const freeing = times[times.length - most];
  return freeing === undefined ? 0 : Math.max(1, Math.ceil((freeing + windowMs - now) / 1000));
}

/** Each new row removes many old ones of any address. */
async function prune(
  transaction: Transaction<Tables>,
  table: 'sign_in_failures' | 'sign_in_addresses',
  before: number,
): Promise<void> {
  await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where at <= ${new Date(before)} limit ${prunedAtOnce}
      for update skip locked))`.execute(transaction);
}

/** Hashed: people type passwords into the wrong box. */
function accountKey(email: string): string {
  return hash('sha256', comparableEmail(email), 'base64url');
}

function rateLimited(seconds: number): ApiError {
  return new ApiError('rate_limited', 'Too many failed attempts. Try again later.', { retryAfter: seconds });
}
