import type { Logger } from 'pino';
import type { Database } from '../../db/pool.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { showHost } from './hosts.ts';
import { dropExpiredLeases } from './leases.ts';
import type { Operations } from './lifecycle.ts';
import { findWorkspace, listAlive, listOfDisabled, listUnused, type WorkspaceState } from './rows.ts';
import { lifetimeMs } from './timings.ts';

export type SweepDeps = {
  db: Database;
  log: Logger;
  runtime: WorkspaceRuntime;
  operations: Operations;
  host: string | undefined;
  idleMs: number;
};

const unusedPerSweep = 500;
const healthAtOnce = 8;
/** A workspace past its maximum age is stopped after this long without use. */
const betweenUsesMs = 5 * 60_000;

/** Keeps rows and runtime in step. Any number of replicas may sweep at once; each step is a compare-and-set. */
export async function sweepWorkspaces(deps: SweepDeps): Promise<void> {
  if (deps.host !== undefined) await keepHost(deps, deps.host);
  await stopDisabled(deps);
  await recoverLost(deps);
  await stopUnused(deps);
  await compareWithRuntime(deps);
  await dropExpiredLeases(deps);
}

/** Ends the workspaces of disabled accounts. */
export async function stopDisabled({ operations, ...deps }: Pick<SweepDeps, 'db' | 'operations'>): Promise<void> {
  for (const userId of await listOfDisabled(deps))
    await operations.stop({ userId, reason: 'disabled' }, { kind: 'disabled' });
}

async function keepHost(deps: SweepDeps, host: string): Promise<void> {
  const other = await showHost(deps, host);
  if (other !== undefined) {
    deps.log.error(
      { other },
      'another machine has taken over the local workspaces of this database; stop Homeport on one of them',
    );
  }
}

/** Starts and stops whose replica is gone. */
async function recoverLost(deps: SweepDeps): Promise<void> {
  const lost = (await listAlive(deps)).filter((row) => row.op_lost && isOurs(deps, row));
  await Promise.all(lost.map((row) => deps.operations.recover(row)));
}

async function stopUnused(deps: SweepDeps): Promise<void> {
  const place = { runtime: deps.runtime.kind, limit: unusedPerSweep };
  const idle = await listUnused(deps, { ...place, idleMs: deps.idleMs });
  const chosen = new Set(idle.map((row) => row.user_id));
  await each(idle, healthAtOnce, async (row) => {
    if (!isOurs(deps, row) || (row.background && (await worksInBackground(deps, row)))) return;
    const { user_id: userId, generation } = row;
    await deps.operations.stop({ userId, generation, reason: 'idle' }, { kind: 'unused', idleMs: deps.idleMs });
  });
  const old = await listUnused(deps, { ...place, idleMs: Math.min(deps.idleMs, betweenUsesMs), ageMs: lifetimeMs });
  for (const { user_id: userId, generation } of old.filter((row) => isOurs(deps, row) && !chosen.has(row.user_id))) {
    await deps.operations.stop({ userId, generation, reason: 'age' }, { kind: 'unused', idleMs: betweenUsesMs });
  }
}

/** A daemon without a request for half an hour ends itself, so ours get one. */
export async function greetRunning(deps: SweepDeps): Promise<void> {
  await eachRunning(deps, async ({ user_id: userId, generation, key_id: keyId }) => {
    const daemon = deps.operations.daemonOf(userId, generation, keyId ?? '');
    await daemon.health().catch(() => undefined);
  });
}

/** Does `work` with each running workspace that this replica can reach, eight at once. */
export async function eachRunning(deps: SweepDeps, work: (row: WorkspaceState) => Promise<void>): Promise<void> {
  const running = (await listAlive(deps)).filter((row) => row.phase === 'running' && isOurs(deps, row));
  await each(running, healthAtOnce, work);
}

/**
 * At the end of the service, if no other process serves these workspaces: ends the unused ones and resolves when they
 * are gone.
 */
export async function stopAllUnused(deps: SweepDeps): Promise<void> {
  const running = (await listAlive(deps)).filter((row) => row.phase === 'running' && isOurs(deps, row));
  await each(running, healthAtOnce, async (row) => {
    if (row.in_use || (row.background && (await worksInBackground(deps, row)))) return;
    const { user_id: userId, generation } = row;
    const error = 'It was stopped with the service, because nothing used it';
    await deps.operations.stop({ userId, generation, reason: 'idle', error }, { kind: 'unused', idleMs: 0 });
    await deps.operations.settled(userId);
  });
}

/** As the daemon reports; it counts for `backgroundMs` after the last use, because it cannot be trusted for ever. */
async function worksInBackground({ operations }: SweepDeps, row: WorkspaceState): Promise<boolean> {
  const health = await operations
    .daemonOf(row.user_id, row.generation, row.key_id ?? '')
    .health()
    .catch(() => undefined);
  return health !== undefined && health.active.processes > 0;
}

/** Rows that say running where nothing runs, and running workspaces whose row does not say so. */
async function compareWithRuntime(deps: SweepDeps): Promise<void> {
  const { runtime, operations, log } = deps;
  const found = new Map((await runtime.list()).map(({ id, generation }) => [id, generation]));
  const alive = await listAlive(deps);
  for (const row of alive) {
    const isThere = found.get(row.user_id) === row.generation && operations.canOpen(row.key_id);
    if (row.phase === 'running' && isOurs(deps, row) && !isThere) await endIfGone(deps, row);
  }
  for (const [id, generation] of found) {
    if (alive.some((row) => row.user_id === id)) continue;
    // Read again: it may have been started since the list was made.
    const row = await findWorkspace(deps, id);
    if (row !== undefined && (row.phase !== 'stopped' || row.generation > generation)) continue;
    log.warn({ userId: id, generation }, 'a workspace that should be stopped was running; stopping it');
    if (row === undefined) await runtime.stop(id, 0);
    else await operations.stop({ userId: id, generation: row.generation, reason: 'lost' }, { kind: 'left over' });
  }
}

/**
 * True if a workspace that should run does not, or can never be opened again; it is marked as stopped, with the
 * runtime's reason.
 */
export async function endIfGone(
  { runtime, operations, log }: Pick<SweepDeps, 'runtime' | 'operations' | 'log'>,
  row: Pick<WorkspaceState, 'user_id' | 'generation' | 'key_id'>,
): Promise<boolean> {
  const { user_id: userId, generation } = row;
  const canOpen = operations.canOpen(row.key_id);
  const status = await runtime.status(userId);
  if (canOpen && status.phase !== 'stopped' && status.generation === generation) return false;
  const error = canOpen ? (status.detail ?? 'It ended by itself') : 'The encryption key it was started with is gone';
  const stopped = await operations.stop({ userId, generation, reason: 'lost', error }, { kind: 'running' });
  if (stopped) log.warn({ userId, generation, reason: error }, 'a running workspace is gone');
  return true;
}

function isOurs({ runtime, host }: SweepDeps, row: WorkspaceState): boolean {
  return row.runtime === runtime.kind && (host === undefined || row.host === host);
}

async function each<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
