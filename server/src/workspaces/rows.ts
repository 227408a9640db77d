import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Database, Queryable } from '../db/pool.ts';
import type { WorkspacesTable } from '../db/tables.ts';
import { backgroundMs } from './timings.ts';

/**
 * The only writer of `workspaces`: stopped -> starting -> running -> stopping -> stopped, each step a compare-and-set. While one starts or
 * stops, an operation holds it; what it writes takes effect only as long as it does.
 */

export type WorkspaceRow = Selectable<WorkspacesTable>;
export type StopReason = NonNullable<WorkspacesTable['stop_reason']>;
/** A start or a stop under way. `id` is its own, so that whoever lost it changes nothing. */
export type Operation = { id: string; userId: string; generation: number };
export type RowDeps = { db: Pick<Database, 'kysely'> };

/** How long an operation is believed to be alive without a sign. */
const operationMs = 15_000;
const until = sql<Date>`now() + ${operationMs} * interval '1 millisecond'`;

export type WorkspaceState = WorkspaceRow & {
  /** Nobody has shown for too long that this start or stop goes on. */
  op_lost: boolean;
  /** A live lease is on it. */
  in_use: boolean;
  /** Used so lately that what runs in the background still counts. */
  background: boolean;
  enabled: boolean;
};

/** Leases of the present generation that are alive. */
const hasLease = sql<boolean>`exists (select from workspace_leases l where l.user_id = workspaces.user_id
  and l.generation = workspaces.generation and l.expires_at > now())`;
const enabledUser = sql<boolean>`exists (select from users u where u.id = workspaces.user_id and u.enabled)`;

/** The workspace of a user; the row is made where it is missing. */
export async function readWorkspace(deps: RowDeps, userId: string): Promise<WorkspaceState> {
  const found = await findWorkspace(deps, userId);
  if (found !== undefined) return found;
  await deps.db.kysely
    .insertInto('workspaces')
    .values({ user_id: userId })
    .onConflict((c) => c.doNothing())
    .execute();
  return states(deps).where('user_id', '=', userId).executeTakeFirstOrThrow();
}

export function findWorkspace(deps: RowDeps, userId: string): Promise<WorkspaceState | undefined> {
  return states(deps).where('user_id', '=', userId).executeTakeFirst();
}

function states(deps: RowDeps) {
  return deps.db.kysely
    .selectFrom('workspaces')
    .selectAll()
    .select([
      sql<boolean>`coalesce(op_until < now(), false)`.as('op_lost'),
      hasLease.as('in_use'),
      sql<boolean>`last_activity_at > now() - ${backgroundMs} * interval '1 millisecond'`.as('background'),
      enabledUser.as('enabled'),
    ]);
}

/** Where a generation runs and what opens it. */
export type Placement = {
  runtime: NonNullable<WorkspacesTable['runtime']>;
  host: string | undefined;
  keyId: string;
  tokenHash: string;
};

/** stopped -> starting, of the next generation. Undefined when another was faster, or the account is disabled. */
export async function beginStart(
  deps: RowDeps,
  operation: Operation,
  placement: Placement,
): Promise<WorkspaceRow | undefined> {
  const { runtime, host = null, keyId, tokenHash } = placement;
  return deps.db.kysely
    .updateTable('workspaces')
    .set({
      ...{ phase: 'starting', generation: operation.generation, runtime, host, key_id: keyId, token_hash: tokenHash },
      ...{
        op_owner: operation.id,
        op_until: until,
        message: null,
        stop_reason: null,
        last_error: null,
        started_at: null,
      },
    })
    .where('user_id', '=', operation.userId)
    .where('phase', '=', 'stopped')
    .where('generation', '=', operation.generation - 1)
    .where(enabledUser)
    .returningAll()
    .executeTakeFirst();
}

/** Shows that the operation goes on. False when it is no longer this one's to go on with. */
export async function renewOperation(
  deps: RowDeps,
  operation: Operation,
  message: string | undefined,
): Promise<boolean> {
  const { numUpdatedRows } = await held(deps, operation)
    .set({ op_until: until, message: message ?? null })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** starting -> running. */
export async function finishStart(deps: RowDeps, operation: Operation): Promise<boolean> {
  const now = sql<Date>`now()`;
  const { numUpdatedRows } = await held(deps, operation)
    .set({ ...idle, phase: 'running', started_at: now, last_activity_at: sql<Date>`clock_timestamp()` })
    .where('phase', '=', 'starting')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** starting -> stopping, by the one who starts it. */
export async function failStart(
  deps: RowDeps,
  operation: Operation,
  reason: StopReason,
  error: string,
): Promise<boolean> {
  const { numUpdatedRows } = await held(deps, operation)
    .set({ ...stopping(operation, reason, error) })
    .where('phase', '=', 'starting')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** stopping -> stopped. */
export async function finishStop(deps: RowDeps, operation: Operation): Promise<boolean> {
  const { numUpdatedRows } = await held(deps, operation)
    .set({ ...idle, phase: 'stopped', started_at: null })
    .where('phase', '=', 'stopping')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const idle = { op_owner: null, op_until: null, message: null };

function held(deps: RowDeps, operation: Operation) {
  return deps.db.kysely
    .updateTable('workspaces')
    .where('user_id', '=', operation.userId)
    .where('generation', '=', operation.generation)
    .where('op_owner', '=', operation.id);
}

function stopping(operation: { id: string }, reason: StopReason, error: string | undefined) {
  return {
    ...{ phase: 'stopping' as const, op_owner: operation.id, op_until: until, token_hash: null, message: null },
    ...{ stop_reason: reason, last_error: error ?? null },
  };
}

/**
 * What a stop may take: `any`, starting or running, whatever it does; `running`; `unused`, running without a lease and not used for so long;
 * `left over`, stopped already, but something of it was found alive.
 */
export type StopRule =
  | { kind: 'any' }
  | { kind: 'running' }
  | { kind: 'unused'; idleMs: number }
  | { kind: 'left over' };

function condition(rule: StopRule): RawBuilder<boolean> {
  if (rule.kind === 'any') return sql<boolean>`phase in ('starting', 'running')`;
  if (rule.kind === 'running') return sql<boolean>`phase = 'running'`;
  if (rule.kind === 'left over') return sql<boolean>`phase = 'stopped'`;
  // A lease touches the row, so that this is asked again of the row as it then is (docs/decisions/0021-workspace-leases.md).
  return sql<boolean>`phase = 'running' and last_activity_at < now() - ${rule.idleMs} * interval '1 millisecond'
    and not ${hasLease}`;
}

/** -> stopping, where the rule holds and the generation is the one given, or any. Undefined when there is nothing to stop. */
export async function beginStop(
  deps: RowDeps,
  stop: { id: string; userId: string; generation?: number; reason: StopReason; error?: string | undefined },
  rule: StopRule,
): Promise<Operation | undefined> {
  let update = deps.db.kysely
    .updateTable('workspaces')
    .set(
      rule.kind === 'left over'
        ? { phase: 'stopping', op_owner: stop.id, op_until: until, token_hash: null }
        : stopping(stop, stop.reason, stop.error),
    )
    .where('user_id', '=', stop.userId)
    .where(condition(rule));
  if (stop.generation !== undefined) update = update.where('generation', '=', stop.generation);
  const row = await update.returning('generation').executeTakeFirst();
  return row === undefined ? undefined : { id: stop.id, userId: stop.userId, generation: row.generation };
}

/** Takes over a start or a stop whose operation is lost. Undefined when another was faster. */
export async function takeOver(deps: RowDeps, operation: Operation): Promise<WorkspaceRow | undefined> {
  return deps.db.kysely
    .updateTable('workspaces')
    .set({ op_owner: operation.id, op_until: until })
    .where('user_id', '=', operation.userId)
    .where('generation', '=', operation.generation)
    .where('phase', 'in', ['starting', 'stopping'])
    .where('op_until', '<', sql<Date>`now()`)
    .returningAll()
    .executeTakeFirst();
}

/** Lets go of what another runtime or another machine ran: nobody here can reach it. Returns the ids. */
export async function abandonElsewhere(
  deps: RowDeps,
  place: { runtime: Placement['runtime']; host: string | undefined },
): Promise<string[]> {
  const rows = await deps.db.kysely
    .updateTable('workspaces')
    .set({ ...idle, phase: 'stopped', token_hash: null, started_at: null, stop_reason: 'lost' })
    .where('phase', '<>', 'stopped')
    .where((where) =>
      where.or([where('runtime', '<>', place.runtime), where('host', 'is distinct from', place.host ?? null)]),
    )
    .returning('user_id')
    .execute();
  return rows.map((row) => row.user_id);
}

/** Lets go of every operation: for the only process there is, at its start. */
export async function loseOperations(deps: RowDeps): Promise<void> {
  await deps.db.kysely
    .updateTable('workspaces')
    .set({ op_until: sql<Date>`now() - interval '1 millisecond'` })
    .where('phase', 'in', ['starting', 'stopping'])
    .execute();
}

/** SQL that marks a running workspace as used now: part of taking a lease. Returns `generation` and `key_id`. */
export function touching(userId: string): RawBuilder<unknown> {
  return sql`update workspaces set last_activity_at = clock_timestamp()
    where user_id = ${userId} and phase = 'running' and ${enabledUser} returning user_id, generation, key_id`;
}

/** The same for the workspaces whose leases are renewed or given up. */
export async function touchAll(db: Queryable, userIds: readonly string[]): Promise<void> {
  // Locked in one order, so that two replicas that share users cannot wait for each other.
  await sql`update workspaces set last_activity_at = clock_timestamp()
    from (select user_id from workspaces where user_id = any(${userIds}) and phase = 'running'
      order by user_id for no key update) locked
    where workspaces.user_id = locked.user_id`.execute(db);
}

/** Running workspaces that a rule may stop, longest unused first. */
export async function listUnused(
  deps: RowDeps,
  place: { runtime: Placement['runtime']; idleMs: number; ageMs?: number; limit: number },
): Promise<WorkspaceState[]> {
  return states(deps)
    .where('started_at', '<=', sql<Date>`now() - ${place.ageMs ?? 0} * interval '1 millisecond'`)
    .where(condition({ kind: 'unused', idleMs: place.idleMs }))
    .where('runtime', '=', place.runtime)
    .orderBy('last_activity_at')
    .limit(place.limit)
    .execute();
}

/** Everything that is not stopped. */
export async function listAlive(deps: RowDeps): Promise<WorkspaceState[]> {
  return states(deps).where('phase', '<>', 'stopped').execute();
}

/** Ids of workspaces that are not stopped though their account is disabled. */
export async function listOfDisabled(deps: RowDeps): Promise<string[]> {
  const rows = await deps.db.kysely
    .selectFrom('workspaces')
    .select('user_id')
    .where('phase', 'in', ['starting', 'running'])
    .where(sql<boolean>`not ${enabledUser}`)
    .execute();
  return rows.map((row) => row.user_id);
}

/** Of these users the generation that runs now; absent: none does. */
export async function listRunning(deps: RowDeps, userIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await deps.db.kysely
    .selectFrom('workspaces')
    .select(['user_id', 'generation'])
    .where('user_id', 'in', userIds)
    .where('phase', '=', 'running')
    .execute();
  return new Map(rows.map((row) => [row.user_id, row.generation]));
}

export async function countWorkspaces(deps: RowDeps): Promise<{ running: number; starting: number }> {
  const rows = await deps.db.kysely
    .selectFrom('workspaces')
    .select(['phase', sql<number>`count(*)`.as('count')])
    .where('phase', '<>', 'stopped')
    .groupBy('phase')
    .execute();
  const count = (phase: WorkspaceRow['phase']) => rows.find((row) => row.phase === phase)?.count ?? 0;
  return { running: count('running'), starting: count('starting') };
}
