import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import { verifyPassword } from '../accounts/passwords.ts';
import { inTransaction } from '../db/pool.ts';
import { addressBucket } from '../platform/client-address.ts';
import { Semaphore } from '../platform/concurrency/semaphore.ts';
import type { Platform } from '../platform.ts';

/** Limits wrong passwords by share and address (contract.md section 12). The only writer of `share_tries`. */

type Needs = Pick<Platform, 'db' | 'clock'>;
export type PasswordTry = { shareId: string; address: string; signal: AbortSignal };

const windowMs = limits.sharePasswordMinutes * 60_000;
/** A check without an outcome after this long was interrupted and counts as wrong. */
const longestCheckMs = 30_000;
const retryEveryMs = 100;
const busyMax = 100;
const prunedAtOnce = 100;

/** One hash at a time, so that readers of shares leave room for sign-ins. */
const hashes = new Semaphore(1);
const waitingMax = 100;

/**
 * Checks a password within the limit: `locked` beyond it, whatever the password. The try is reserved first, so that
 * simultaneous ones on any replica stay within the limit. Without a password only the limit is checked.
 */
export async function trySharePassword(
  deps: Needs,
  { shareId, address, signal }: PasswordTry,
  stored: string,
  password: string | undefined,
): Promise<'right' | 'wrong' | 'locked'> {
  const key = { shareId, address: addressBucket(address) };
  for (let turn = 0; turn < busyMax; turn += 1) {
    const reserved = await reserve(deps, key, password !== undefined);
    if (reserved === 'locked') return 'locked';
    if (password === undefined) return 'wrong';
    if (reserved === 'busy') {
      await deps.clock.sleep(retryEveryMs, signal);
      continue;
    }
    return check(deps, reserved, stored, password, signal);
  }
  return 'locked';
}

async function check(
  deps: Needs,
  id: number,
  stored: string,
  password: string,
  signal: AbortSignal,
): Promise<'right' | 'wrong'> {
  const { kysely } = deps.db;
  let isRight: boolean;
  try {
    if (hashes.waiting >= waitingMax) {
      throw new ApiError('rate_limited', 'Too many passwords right now. Try again in a moment.', { retryAfter: 5 });
    }
    isRight = await hashes.run(() => verifyPassword(stored, password), signal);
  } catch (error) {
    await kysely
      .deleteFrom('share_tries')
      .where('id', '=', id)
      .execute()
      .catch(() => undefined);
    throw error;
  }
  if (isRight) await kysely.deleteFrom('share_tries').where('id', '=', id).execute();
  else await kysely.updateTable('share_tries').set({ failed: true }).where('id', '=', id).execute();
  return isRight ? 'right' : 'wrong';
}

type Key = { shareId: string; address: string };

/** The id of the reserved try; `busy` while running checks fill the limit. */
async function reserve(deps: Needs, { shareId, address }: Key, isTry: boolean): Promise<number | 'busy' | 'locked'> {
  const now = deps.clock.now();
  return inTransaction(deps.db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`share ${shareId} ${address}`}, 0))`.execute(trx);
    const rows = await trx
      .selectFrom('share_tries')
      .select(['at', 'failed'])
      .where('share_id', '=', shareId)
      .where('address', '=', address)
      .where('at', '>', new Date(now - windowMs))
      .execute();
    const failed = rows.filter((row) => row.failed || row.at.getTime() < now - longestCheckMs).length;
    if (failed >= limits.sharePasswordTries) return 'locked';
    if (!isTry || rows.length >= limits.sharePasswordTries) return 'busy';
    await sql`
      delete from share_tries where ctid = any(array(
        select ctid from share_tries where share_id = ${shareId} and at <= ${new Date(now - windowMs)}
        limit ${prunedAtOnce} for update skip locked))`.execute(trx);
    const { id } = await trx
      .insertInto('share_tries')
      .values({ share_id: shareId, address, at: new Date(now) })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  });
}
