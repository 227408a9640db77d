import { ApiError } from '@homeport/contracts/errors';
import type { WorkspaceUsage } from '@homeport/contracts/workspace/workspace';
import type { Config } from '../../config/config.ts';
import type { Timer } from '../../platform/clock.ts';
import { unlessAborted, waitAtMost } from '../../platform/waits.ts';
import { type Daemon, OtherProtocol } from '../daemon.ts';
import { findWorkspaceUser, type TokenKind } from '../identity.ts';
import { RuntimeFailure } from '../runtime.ts';
import type { LeaseKind, WorkspaceLease, Workspaces } from '../workspaces.ts';
import { type OperationDeps, Operations } from './lifecycle.ts';
import { Replacements } from './replacements.ts';
import { ReplicaLeases, type TakenLease } from './replica-leases.ts';
import {
  findWorkspace,
  listAlive,
  readWorkspace,
  touchingUnlessRecent,
  useRunning,
  type WorkspaceState,
} from './rows.ts';
import { usageStatus } from './status.ts';
import {
  eachRunning,
  endIfGone,
  greetRunning,
  type SweepDeps,
  stopAllUnused,
  stopDisabled,
  sweepWorkspaces,
} from './sweep.ts';
import type { WorkspaceTimings } from './timings.ts';

export type WorkspacesDeps = OperationDeps & { config: Pick<Config, 'workspaceIdleMinutes' | 'dataDir'> };

type DaemonRow = Pick<WorkspaceState, 'user_id' | 'generation' | 'key_id'>;

/** How long a daemon that answered is assumed to be there. */
const seenMs = 5_000;
const giveUpMs = 1_000;
/** Daemons end themselves after half an hour without a request. */
const greetMs = 10 * 60_000;
const stopUnusedMs = 5_000;

/** Workspaces of one runtime: the rows are the state that replicas share, the runtime is what really runs. */
export class RuntimeWorkspaces implements Workspaces {
  readonly notice = undefined;
  readonly timings: WorkspaceTimings;
  readonly #deps: SweepDeps & OperationDeps;
  readonly #operations: Operations;
  /** This replica's leases. */
  readonly leases: ReplicaLeases;
  readonly #replacements: Replacements;
  /** Generations whose daemon has stated this release's protocol. */
  readonly #verified = new Map<string, number>();
  readonly #ensuring = new Map<string, Promise<void>>();
  /** When the daemon of a generation last answered. */
  readonly #seen = new Map<string, { generation: number; at: number }>();
  #greetAt = 0;
  #sweepTimer: Timer | undefined;
  readonly #disabledTimer: Timer;
  #sweeping: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: WorkspacesDeps) {
    this.timings = deps.timings;
    this.#operations = new Operations(deps);
    this.leases = new ReplicaLeases(deps);
    this.#deps = { ...deps, idleMs: deps.config.workspaceIdleMinutes * 60_000, operations: this.#operations };
    this.#replacements = new Replacements({ ...this.#deps, drainMs: deps.timings.drainMs }, (id) =>
      this.#ensure(id, undefined),
    );
    this.#disabledTimer = this.#deps.clock.every(2 * deps.timings.watchMs, () => this.#stopDisabled());
    this.#planSweep(0);
  }

  get mode() {
    return this.#deps.runtime.kind;
  }

  async status(userId: string): Promise<WorkspaceUsage> {
    const state = await findWorkspace(this.#deps, userId);
    if (state?.phase !== 'running') return usageStatus(this.mode, this.#deps.idleMs, state, undefined);
    const health = await this.#daemonOf(state)
      .health(AbortSignal.timeout(this.timings.statusHealthMs))
      .catch((error: unknown) => this.#replaceIfOther(state, error));
    if (health === undefined && (await endIfGone(this.#deps, state))) return this.status(userId);
    const message = this.#replacements.messageOf(userId, state.generation);
    const status = usageStatus(this.mode, this.#deps.idleMs, state, health, message);
    // Only there does asking cost nothing.
    const { detail } = this.#deps.runtime.kind === 'local' ? await this.#deps.runtime.status(userId) : {};
    if (detail !== undefined) status.message ??= detail;
    if (status.usage !== undefined) status.usage.memoryLimitBytes ??= this.#deps.runtime.memoryLimitBytes ?? null;
    return status;
  }

  async start(userId: string, signal?: AbortSignal): Promise<void> {
    await this.#ensure(userId, signal);
    await touchingUnlessRecent([userId]).execute(this.#deps.db.kysely);
  }

  async stop(userId: string): Promise<void> {
    await this.#stop(userId, 'person');
  }

  async accountDisabled(userId: string): Promise<void> {
    await this.#stop(userId, 'disabled');
  }

  async hold(userId: string, kind: LeaseKind, signal?: AbortSignal): Promise<WorkspaceLease> {
    const deadline = this.#deps.clock.now() + this.#deps.timings.startMs;
    for (;;) {
      signal?.throwIfAborted();
      const hold = await this.#holdRunning(userId, kind, signal);
      if (hold !== undefined) return hold;
      if (this.#deps.clock.now() > deadline) throw startFailed('The workspace does not stay up');
      await this.#ensure(userId, signal);
    }
  }

  async ask<T>(userId: string, question: (daemon: Daemon) => Promise<T>): Promise<T | undefined> {
    const running = await useRunning(this.#deps, userId);
    if (running === undefined) return undefined;
    const { generation, keyId } = running;
    const row = rowOf(userId, running);
    if (!(await this.#isCurrent(row))) return undefined;
    try {
      return await question(this.#operations.daemonOf(userId, generation, keyId));
    } catch (error) {
      if (await endIfGone(this.#deps, row)) return undefined;
      throw error;
    }
  }

  findUser(token: string, kind?: TokenKind) {
    return findWorkspaceUser(this.#deps, token, kind);
  }

  /** Checks everything once; simultaneous calls share one run. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    await sweepWorkspaces(this.#deps);
    await this.#verifyRunning();
    if (this.#deps.clock.elapsed() < this.#greetAt) return;
    this.#greetAt = this.#deps.clock.elapsed() + greetMs;
    await greetRunning(this.#deps);
  }

  async stopUnused(): Promise<void> {
    const { host, clock } = this.#deps;
    // With several machines, others serve them; with several replicas too.
    if (host === undefined) return;
    const stopped = stopAllUnused(this.#deps).catch((cause) =>
      this.#deps.log.warn({ cause }, 'failed to stop unused workspaces; each stops by itself within half an hour'),
    );
    await waitAtMost(clock, stopUnusedMs, stopped);
  }

  /** Releases the leases. Workspaces keep running and are found again later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sweepTimer?.stop();
    this.#disabledTimer.stop();
    await this.#sweeping?.catch(() => undefined);
    await this.#replacements.close();
    await this.#operations.close();
    await this.leases.close();
    await this.#deps.runtime.close();
  }

  async #stop(userId: string, reason: 'person' | 'disabled'): Promise<void> {
    await this.#operations.stop({ userId, reason }, { kind: 'any' });
    this.leases.end(userId);
  }

  async #stopDisabled(): Promise<void> {
    await stopDisabled(this.#deps).catch((error) =>
      this.#deps.log.debug({ cause: error }, 'failed to list the workspaces of disabled accounts'),
    );
  }

  #planSweep(delayMs: number): void {
    this.#sweepTimer = this.#deps.clock.after(delayMs, () => {
      void this.sweep()
        .catch((error) => this.#deps.log.warn({ cause: error }, 'failed to stop idle workspaces; trying again soon'))
        .finally(() => {
          // So that replicas that started together do not sweep together.
          if (!this.#isClosed) this.#planSweep(this.#deps.timings.sweepMs * (0.75 + Math.random() / 2));
        });
    });
  }

  /** Resolves when it is running. All callers here wait together; aborting one wait does not end the others. */
  async #ensure(userId: string, signal: AbortSignal | undefined): Promise<void> {
    let ensuring = this.#ensuring.get(userId);
    if (ensuring === undefined) {
      ensuring = this.#untilRunning(userId).finally(() => this.#ensuring.delete(userId));
      this.#ensuring.set(userId, ensuring);
    }
    return signal === undefined ? ensuring : unlessAborted(ensuring, signal);
  }

  async #untilRunning(userId: string): Promise<void> {
    const { clock, timings } = this.#deps;
    const deadline = clock.now() + timings.startMs;
    let waitedFor: number | undefined;
    for (;;) {
      const state = await readWorkspace(this.#deps, userId);
      if (state.phase === 'running') {
        const replacing = await this.#verify(state);
        if (replacing === undefined) return;
        await replacing.done;
        continue;
      }
      if (!state.enabled) throw new ApiError('account_disabled', 'This account is disabled');
      if (waitedFor === state.generation && hasFailed(state)) throw startFailed(failureOf(state));
      if (state.phase === 'starting') waitedFor = state.generation;
      // The process that starts it gives up after the same time and says why; wait for that.
      const patience = state.phase === 'starting' ? giveUpMs : 0;
      if (clock.now() >= deadline + patience) throw startFailed(tookTooLong(timings.startMs, state.message));
      if (state.op_lost) await this.#operations.recover(state);
      else if (state.phase !== 'stopped') await this.#wait(userId);
      else if (await this.#begin(state)) waitedFor = state.generation + 1;
    }
  }

  async #begin(state: WorkspaceState): Promise<boolean> {
    try {
      return await this.#operations.start(state);
    } catch (error) {
      if (error instanceof RuntimeFailure) throw startFailed(error.message);
      throw error;
    }
  }

  /** Until something here has finished, or it is time to check what another replica did. */
  async #wait(userId: string): Promise<void> {
    const { clock, timings } = this.#deps;
    const here = this.#operations.settled(userId);
    if (here !== undefined) return here;
    await clock.sleep(timings.pollMs);
  }

  async #holdRunning(
    userId: string,
    kind: LeaseKind,
    signal: AbortSignal | undefined,
  ): Promise<WorkspaceLease | undefined> {
    const hold = await this.leases.take(userId, kind, (...of) => this.#operations.daemonOf(...of));
    if (hold === undefined) return undefined;
    const isThere = await this.#isThere(userId, hold).catch(async (error) => {
      await hold.release();
      if (!(error instanceof OtherProtocol)) throw error;
      // Callers wait for the replacement.
      const replaced = this.#replacements.begin(rowOf(userId, hold), error);
      await (signal === undefined ? replaced : unlessAborted(replaced, signal));
      return undefined;
    });
    if (isThere === undefined) return undefined;
    if (isThere) return { ...hold, doubt: () => this.#seen.delete(userId) };
    await hold.release();
    return undefined;
  }

  /** Asks every running daemon that has not stated its protocol here yet. */
  async #verifyRunning(): Promise<void> {
    const alive = await listAlive(this.#deps);
    const running = new Set(alive.filter(({ phase }) => phase === 'running').map((row) => row.user_id));
    for (const userId of this.#verified.keys()) if (!running.has(userId)) this.#verified.delete(userId);
    await eachRunning(this.#deps, (row) => this.#verify(row).then(() => undefined));
  }

  async #isCurrent(row: DaemonRow): Promise<boolean> {
    return (await this.#verify(row)) === undefined;
  }

  /** The replacement of a daemon of another release; undefined if it is this release's or does not answer. */
  async #verify(row: DaemonRow): Promise<{ done: Promise<void> } | undefined> {
    if (this.#verified.get(row.user_id) === row.generation) return undefined;
    try {
      await this.#daemonOf(row).health(AbortSignal.timeout(this.timings.statusHealthMs));
      this.#verified.set(row.user_id, row.generation);
      return undefined;
    } catch (error) {
      return error instanceof OtherProtocol ? { done: this.#replacements.begin(row, error) } : undefined;
    }
  }

  #replaceIfOther(row: DaemonRow, error: unknown): undefined {
    if (error instanceof OtherProtocol) void this.#replacements.begin(row, error);
  }

  #daemonOf(row: DaemonRow): Daemon {
    return this.#operations.daemonOf(row.user_id, row.generation, row.key_id ?? '');
  }

  /**
   * False if the leased workspace is gone; its row then says so. Throws `workspace_request_failed` if it exists but
   * does not answer, OtherProtocol if it is another release's.
   */
  async #isThere(userId: string, hold: TakenLease): Promise<boolean> {
    const { generation } = hold;
    const now = this.#deps.clock.elapsed();
    const seen = this.#seen.get(userId);
    if (seen?.generation === generation && seen.at > now - seenMs) return true;
    try {
      await hold.daemon.health();
    } catch (error) {
      if (error instanceof OtherProtocol) throw error;
      if (await endIfGone(this.#deps, rowOf(userId, hold))) return false;
      throw error;
    }
    this.#verified.set(userId, generation);
    if (this.#seen.size > 1000) for (const [id, { at }] of this.#seen) if (at <= now - seenMs) this.#seen.delete(id);
    this.#seen.set(userId, { generation, at: now });
    return true;
  }
}

function rowOf(userId: string, { generation, keyId }: { generation: number; keyId: string }): DaemonRow {
  return { user_id: userId, generation, key_id: keyId };
}

/** The awaited start failed. One lost with its replica, or stopped as unused at the same moment, is started again. */
function hasFailed({ phase, stop_reason: reason }: WorkspaceState): boolean {
  const isOver = phase === 'stopped' || phase === 'stopping';
  return isOver && (reason === 'failed' || reason === 'person' || reason === 'disabled');
}

function failureOf({ last_error: error }: WorkspaceState): string {
  return error ?? 'It was stopped while it started';
}

function tookTooLong(startMs: number, detail: string | null): string {
  const waited = `It was not ready within ${Math.round(startMs / 1000)} seconds`;
  return detail === null ? waited : `${waited}: ${detail}`;
}

function startFailed(reason: string): ApiError {
  return new ApiError('workspace_start_timeout', `The workspace did not start: ${reason}`, { retryAfter: 5 });
}
