import { type RawBuilder, type Selectable, sql } from 'kysely';
import { asyncCommit } from '../../db/async-commit.ts';
import type { Database, Queryable } from '../../db/pool.ts';
import type { WorkspacesTable } from '../../db/tables/tables.ts';
import { backgroundMs, unusedMs } from './timings.ts';

/**
 * The only writer of `workspaces`: stopped -> starting -> running -> stopping -> stopped, each step a compare-and-set.
 * During a start or stop an operation holds the row, and its writes take effect only while it does.
 */

export type WorkspaceRow = Selectable<WorkspacesTable>;
export type StopReason = NonNullable<WorkspacesTable['stop_reason']>;
/** A start or stop in progress. Its `id` is unique, so that a process that lost it changes nothing. */
export type Operation = { id: string; userId: string; generation: number };
export type RowDeps = { db: Pick<Database, 'kysely'> };

/** How long an operation counts as alive without reporting. */
const operationMs = 15_000;
const until = sql<Date>`now() + ${operationMs} * interval '1 millisecond'`;

export type WorkspaceState = WorkspaceRow & {
  /** This start or stop has not reported for too long. */
  op_lost: boolean;
  /** A live lease is on it. */
  in_use: boolean;
  /** Used recently enough that background commands still count. */
  background: boolean;
  enabled: boolean;
};

/** Leases of the present generation that are alive. */
const hasLease = sql<boolean>`exists (select from workspace_leases l where l.user_id = workspaces.user_id
  and l.generation = workspaces.generation and l.expires_at > now())`;
const enabledUser = sql<boolean>`exists (select from users u where u.id = workspaces.user_id and u.enabled)`;

/** The workspace of a user; the row is inserted if it is missing. */
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

/** Runtime, host and key of a generation. */
export type Placement = {
  runtime: NonNullable<WorkspacesTable['runtime']>;
  host: string | undefined;
  keyId: string;
  tokenHash: string;
  modelTokenHash: string;
};

/**
 * stopped -> starting, with the next generation. Undefined if another process was faster or the account is disabled.
 */
export async function beginStart(
  deps: RowDeps,
  operation: Operation,
  placement: Placement,
): Promise<WorkspaceRow | undefined> {
  const { runtime, host = null, keyId, tokenHash, modelTokenHash } = placement;
  return deps.db.kysely
    .updateTable('workspaces')
    .set({
      phase: 'starting',
      generation: operation.generation,
      runtime,
      host,
      key_id: keyId,
      token_hash: tokenHash,
      model_token_hash: modelTokenHash,
      op_owner: operation.id,
      op_until: until,
      message: null,
      stop_reason: null,
      last_error: null,
      started_at: null,
      used: false,
    })
    .where('user_id', '=', operation.userId)
    .where('phase', '=', 'stopped')
    .where('generation', '=', operation.generation - 1)
    .where(enabledUser)
    .returningAll()
    .executeTakeFirst();
}

/** Reports that the operation is still running. False if it no longer holds the row. */
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

/** starting -> stopping, by the operation that starts it. */
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
    phase: 'stopping' as const,
    op_owner: operation.id,
    op_until: until,
    token_hash: null,
    model_token_hash: null,
    message: null,
    stop_reason: reason,
    last_error: error ?? null,
  };
}

/**
 * Condition of a stop: `any`, starting or running, even if busy; `running`; `unused`, running without a lease and
 * unused for `idleMs`, or for two minutes if never used; `left over`, already stopped, but part of it was found alive.
 */
export type StopRule =
  | { kind: 'any' }
  | { kind: 'disabled' }
  | { kind: 'running' }
  | { kind: 'unused'; idleMs: number }
  | { kind: 'left over' };

function condition(rule: StopRule): RawBuilder<boolean> {
  if (rule.kind === 'any') return sql<boolean>`phase in ('starting', 'running')`;
  if (rule.kind === 'disabled') return sql<boolean>`phase in ('starting', 'running') and not ${enabledUser}`;
  if (rule.kind === 'running') return sql<boolean>`phase = 'running'`;
  if (rule.kind === 'left over') return sql<boolean>`phase = 'stopped'`;
  // A lease touches the row, so this is checked again on the row's new version
  // (docs/decisions/0021-workspace-leases.md).
  const unused = Math.min(rule.idleMs, unusedMs);
  return sql<boolean>`phase = 'running'
    and last_activity_at < now() - (case when used then ${rule.idleMs}::float8 else ${unused}::float8 end) * interval '1 millisecond'
    and not ${hasLease}`;
}

/**
 * -> stopping, if the rule allows it and the generation is the given one, or any. Undefined if there is nothing to
 * stop.
 */
export async function beginStop(
  deps: RowDeps,
  stop: { id: string; userId: string; generation?: number; reason: StopReason; error?: string },
  rule: StopRule,
): Promise<Operation | undefined> {
  let update = deps.db.kysely
    .updateTable('workspaces')
    .set(
      rule.kind === 'left over'
        ? { phase: 'stopping', op_owner: stop.id, op_until: until, token_hash: null, model_token_hash: null }
        : stopping(stop, stop.reason, stop.error),
    )
    .where('user_id', '=', stop.userId)
    .where(condition(rule));
  if (stop.generation !== undefined) update = update.where('generation', '=', stop.generation);
  const row = await update.returning('generation').executeTakeFirst();
  return row === undefined ? undefined : { id: stop.id, userId: stop.userId, generation: row.generation };
}

/** Takes over an abandoned start or stop. Undefined if another process was faster. */
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

/**
 * Marks workspaces of another runtime or another machine as stopped: this process cannot reach them. Returns the ids.
 */
export async function abandonElsewhere(
  deps: RowDeps,
  place: { runtime: Placement['runtime']; host: string | undefined },
): Promise<string[]> {
  const rows = await deps.db.kysely
    .updateTable('workspaces')
    .set({ ...idle, phase: 'stopped', token_hash: null, model_token_hash: null, started_at: null, stop_reason: 'lost' })
    .where('phase', '<>', 'stopped')
    .where((where) =>
      where.or([where('runtime', '<>', place.runtime), where('host', 'is distinct from', place.host ?? null)]),
    )
    .returning('user_id')
    .execute();
  return rows.map((row) => row.user_id);
}

/** Drops every operation: for the only process there is, at its start. */
export async function loseOperations(deps: RowDeps): Promise<void> {
  await deps.db.kysely
    .updateTable('workspaces')
    .set({ op_until: sql<Date>`now() - interval '1 millisecond'` })
    .where('phase', 'in', ['starting', 'stopping'])
    .execute();
}

/** SQL that marks a running workspace as used now, as part of taking a lease. Returns `generation` and `key_id`. */
export function touching(userId: string): RawBuilder<unknown> {
  return sql`update workspaces set last_activity_at = clock_timestamp(), used = true
    where user_id = ${userId} and phase = 'running' and ${enabledUser} returning user_id, generation, key_id`;
}

/** The same for workspaces whose leases are renewed. */
export async function touchAll(db: Queryable, userIds: readonly string[]): Promise<void> {
  await touchingAll(userIds, sql`true`).execute(db);
}

/** The same without those touched less than a second ago: where no lease depends on it, that is exact enough. */
export function touchingUnlessRecent(userIds: readonly string[]): RawBuilder<unknown> {
  return touchingAll(userIds, sql`last_activity_at < clock_timestamp() - interval '1 second'`);
}

/**
 * Returns the running workspace and records the use by a request without a lease. Undefined if none runs, or the
 * account is disabled.
 */
export async function useRunning(
  deps: RowDeps,
  userId: string,
): Promise<{ generation: number; keyId: string } | undefined> {
  const { rows } = await sql<{ generation: number; keyId: string }>`
    with ${sql.raw(asyncCommit)}, touched as (${touchingUnlessRecent([userId])})
    select generation, key_id as "keyId" from workspaces, settings
    where user_id = ${userId} and phase = 'running' and ${enabledUser}`.execute(deps.db.kysely);
  return rows[0];
}

function touchingAll(userIds: readonly string[], which: RawBuilder<unknown>): RawBuilder<unknown> {
  // Locked in a fixed order, so that two replicas that share users cannot deadlock.
  return sql`update workspaces set last_activity_at = clock_timestamp()
    from (select user_id from workspaces where user_id = any(${userIds}) and phase = 'running' and ${which}
      order by user_id for no key update) locked
    where workspaces.user_id = locked.user_id`;
}

/** Running workspaces that the rule allows to stop, longest unused first. */
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

/** Ids of workspaces that are not stopped although their account is disabled. */
export async function listOfDisabled(deps: RowDeps): Promise<string[]> {
  const rows = await deps.db.kysely
    .selectFrom('workspaces')
    .select('user_id')
    .where('phase', 'in', ['starting', 'running'])
    .where(sql<boolean>`not ${enabledUser}`)
    .execute();
  return rows.map((row) => row.user_id);
}

/** The running generation of each of these users; absent if none is running. */
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
