import { sql } from 'kysely';
import { asyncCommit } from '../../db/async-commit.ts';
import { inTransaction } from '../../db/pool.ts';
import type { LeaseKind } from '../workspaces.ts';
import { type RowDeps, touchAll, touching, touchingUnlessRecent } from './rows.ts';

/** The only writer of `workspace_leases`. */

export type Lease = { id: string; userId: string; generation: number; kind: LeaseKind };

/** How long a lease is valid without being renewed. */
const leaseMs = 60_000;
const expiry = sql<Date>`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;
// Turns often take and release one. A crash of the database may lose it, and the next renewal brings it back.
const withoutDisk = sql.raw(asyncCommit);

/**
 * A lease on the workspace if it is running. The same statement touches its row, so that a sweeper that saw the row
 * without the lease finds it changed and checks again. Undefined if nothing is running or the account is disabled.
 */
export async function takeLease(
  deps: RowDeps,
  lease: { id: string; userId: string; kind: LeaseKind },
): Promise<{ generation: number; keyId: string } | undefined> {
  const { rows } = await sql<{ generation: number; keyId: string }>`
    with ${withoutDisk}, touched as (${touching(lease.userId)}),
    leased as (insert into workspace_leases (id, user_id, generation, kind, expires_at)
      select ${lease.id}, user_id, generation, ${lease.kind}, ${expiry} from touched, settings)
    select generation, key_id as "keyId" from touched`.execute(deps.db.kysely);
  return rows[0];
}

/**
 * Renews leases, even expired ones, as long as their generation is running. Returns the ids of those that are valid.
 */
export async function renewLeases(deps: RowDeps, leases: readonly Lease[]): Promise<Set<string>> {
  if (leases.length === 0) return new Set();
  const rows = leases.map(({ id, userId, generation, kind }) => ({ id, user_id: userId, generation, kind }));
  return inTransaction(deps.db, async (trx) => {
    await touchAll(trx, [...new Set(leases.map((lease) => lease.userId))]);
    const { rows: held } = await sql<{ id: string }>`
      insert into workspace_leases (id, user_id, generation, kind, expires_at)
      select g.id, g.user_id, g.generation, g.kind, ${expiry}
      from json_to_recordset(${JSON.stringify(rows)}::json) g (id text, user_id text, generation int, kind text)
      join workspaces w on w.user_id = g.user_id and w.generation = g.generation and w.phase = 'running'
      order by g.id
      on conflict (id) do update set expires_at = excluded.expires_at
      returning id`.execute(trx);
    return new Set(held.map((row) => row.id));
  });
}

/** Releases leases; the workspace's idle time begins now. */
export async function releaseLeases(deps: RowDeps, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  const userIds = [...new Set(leases.map((lease) => lease.userId))];
  const ids = leases.map((lease) => lease.id);
  await sql`
    with ${withoutDisk}, touched as (${touchingUnlessRecent(userIds)})
    delete from workspace_leases using settings where id = any(${ids})`.execute(deps.db.kysely);
}

/** Removes every lease on the workspace. */
export async function clearLeases(deps: RowDeps, userId: string): Promise<void> {
  await deps.db.kysely.deleteFrom('workspace_leases').where('user_id', '=', userId).execute();
}

/** Removes leases that have not been renewed for long. */
export async function dropExpiredLeases(deps: RowDeps): Promise<void> {
  await deps.db.kysely
    .deleteFrom('workspace_leases')
    .where('expires_at', '<', sql<Date>`now() - interval '1 hour'`)
    .execute();
}
