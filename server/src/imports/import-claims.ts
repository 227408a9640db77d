import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { ImportRow } from './import-records.ts';

/** Leases of imports: one replica at a time works on an import, for as long as it renews the lease. */

/** Longer than any pause of a healthy process. */
const leaseSeconds = 30;
export const renewEveryMs = 5_000;
/** Consecutive attempts without progress after which the archive counts as the cause. */
const attemptsMax = 5;
/** Attempts that a crash counts for: after two in a row the archive counts as the cause. */
const crashWeight = 3;
const firstRestSeconds = 2;
const longestRestSeconds = 60;
const problemsMax = 50;
/** An import that was read but never started is given up after this many days, like the archive of a failed import. */
const keptDays = 7;

/** `attempts`: consecutive attempts without progress, including this one. */
export type ClaimedImport = ImportRow & { claim: string; email: string };

type Waiting = { id: string; owner_id: string };

/** Imports without a valid claim, the oldest first. */
export async function waitingImports(db: Queryable, limit: number): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select id, owner_id from imports where (state in ('reading', 'importing') or is_undoing)
      and (claimed_until is null or claimed_until < now())
    order by created_at limit ${limit}`.execute(db);
  return rows;
}

/**
 * Claims `importId` or the oldest import without a valid claim; undefined if there is none. An expired claim was held
 * by a process that crashed: the import is tried once more, then failed.
 */
export async function claimImport(db: Queryable, importId?: string): Promise<ClaimedImport | undefined> {
  const { rows } = await sql<ClaimedImport>`
    update imports i set claim = ${randomUUID()}, claimed_until = now() + ${leaseSeconds} * interval '1 second',
      attempts = attempts + case when claim is null then 1 else ${crashWeight}::int end
    from users u where u.id = i.owner_id and i.id = (
      select id from imports where (state in ('reading', 'importing') or is_undoing)
        and (claimed_until is null or claimed_until < now()) and (${importId ?? null}::text is null or id = ${importId ?? null})
      order by created_at limit 1 for update skip locked)
    returning i.*, u.email`.execute(db);
  const found = rows[0];
  if (found === undefined || found.attempts <= attemptsMax || found.is_undoing) return found;
  await failImport(db, found, 'Reading this archive ended the service several times. It was given up.', false);
  return undefined;
}

type Claim = Pick<ClaimedImport, 'id' | 'claim'>;
type Attempt = Claim & Pick<ClaimedImport, 'attempts'>;

/** False once the import was canceled, or claimed by another replica. */
export async function renewClaim(db: Queryable, { id, claim, attempts }: Attempt): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update imports set claimed_until = now() + ${leaseSeconds} * interval '1 second', attempts = ${attempts},
      updated_at = now()
    where id = ${id} and claim = ${claim} and (state in ('reading', 'importing') or is_undoing)`.execute(db);
  return Number(numAffectedRows ?? 0n) > 0;
}

/** Locks the import for a transaction that adds to it; false if the claim no longer holds. */
export async function holdClaim(trx: Queryable, { id, claim }: Claim): Promise<boolean> {
  const { rows } = await sql`
    select id from imports where id = ${id} and claim = ${claim} and state in ('reading', 'importing') for share`.execute(
    trx,
  );
  return rows.length > 0;
}

/** Releases the claim, so that another process can continue at once. */
export async function releaseClaim(db: Queryable, { id, claim }: Claim): Promise<void> {
  await sql`
    update imports set claim = null, claimed_until = null, attempts = attempts - 1
    where id = ${id} and claim = ${claim}`.execute(db);
}

/** Releases the claim after a transient error; the next replica retries after a pause that grows with each attempt. */
export async function postponeClaim(db: Queryable, { id, claim, attempts }: Attempt): Promise<void> {
  const seconds = Math.min(firstRestSeconds * 4 ** (attempts - 1), longestRestSeconds);
  await sql`
    update imports set claim = null, claimed_until = now() + ${seconds} * interval '1 second', attempts = ${attempts}
    where id = ${id} and claim = ${claim}`.execute(db);
}

/** Ends reading: the import starts now if the user requested it, otherwise on request. */
export async function finishReading(
  db: Queryable,
  { id, claim }: Claim,
  found: { source: string | null; instructions: string | null; problems: readonly string[] },
): Promise<void> {
  await sql`
    update imports set state = case when is_wanted then 'importing' else 'ready' end, attempts = 0, source = ${found.source},
      instructions = ${found.instructions}, problems = ${JSON.stringify(found.problems.slice(0, problemsMax))}::jsonb,
      claim = null, claimed_until = null, updated_at = now()
    where id = ${id} and claim = ${claim} and state = 'reading'`.execute(db);
}

export async function finishImport(db: Queryable, { id, claim }: Claim): Promise<void> {
  await sql`
    update imports set state = 'done', sha256 = null, claim = null, claimed_until = null, ended_at = now(), updated_at = now()
    where id = ${id} and claim = ${claim} and state = 'importing'`.execute(db);
}

/** `keep`: the archive stays for some days, and the import can be started again. */
export async function failImport(db: Queryable, { id, claim }: Claim, problem: string, keep: boolean): Promise<void> {
  await sql`
    update imports set state = 'failed', problems = jsonb_build_array(${problem}::text) || problems,
      sha256 = case when ${keep} then sha256 end, claim = null, claimed_until = null, ended_at = now(), updated_at = now()
    where id = ${id} and claim = ${claim} and state in ('reading', 'importing')`.execute(db);
}

/** Drops the archives of imports that were never started or retried. */
export async function giveUpOld(db: Queryable): Promise<void> {
  await sql`
    update imports set sha256 = null, state = case state when 'ready' then 'cancelled' else state end,
      ended_at = coalesce(ended_at, now())
    where sha256 is not null and state in ('ready', 'failed')
      and updated_at < now() - ${keptDays} * interval '1 day'`.execute(db);
}
