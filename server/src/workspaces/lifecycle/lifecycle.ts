import { randomUUIDv7 } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import type { Database } from '../../db/pool.ts';
import type { Clock } from '../../platform/clock.ts';
import { Semaphore } from '../../platform/concurrency/semaphore.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { unlessAborted, waitAtMost } from '../../platform/waits.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { type Daemon, OtherProtocol } from '../daemon.ts';
import { createDaemon } from '../daemon-client.ts';
import { RuntimeFailure, type WorkspaceRuntime } from '../runtime.ts';
import { daemonToken, modelTokenOf, newWorkspaceToken, sha256 } from '../tokens.ts';
import { clearLeases } from './leases.ts';
import {
  beginStart,
  beginStop,
  failStart,
  finishStart,
  finishStop,
  type Operation,
  renewOperation,
  type StopReason,
  type StopRule,
  takeOver,
  type WorkspaceRow,
} from './rows.ts';
import type { WorkspaceTimings } from './timings.ts';

export type OperationDeps = {
  db: Database;
  clock: Clock;
  log: Logger;
  secrets: KeyRing;
  metrics: Pick<Metrics, 'workspaceStarted'>;
  runtime: WorkspaceRuntime;
  /** The machine that local workspaces run on. */
  host: string | undefined;
  timings: WorkspaceTimings;
};

type UnderWay = { end: AbortController; done: Promise<void> };

const stopMs = 30_000;
const settleMs = 5_000;
const probeMs = 100;
/** How long to wait for what another process began. */
const adoptMs = 15_000;

class Superseded extends RuntimeFailure {
  override message = 'It was stopped while it started';
}
class ServiceStopping extends RuntimeFailure {
  override message = 'The service was restarted while it started';
}
class TookTooLong extends RuntimeFailure {}

/**
 * The starts and stops that this replica carries out, one at a time per workspace. Each holds the row as long as it
 * keeps reporting; if another process takes the row, the operation ends.
 */
export class Operations {
  readonly #deps: OperationDeps;
  readonly #slots = new Semaphore(2 * availableParallelism());
  readonly #underWay = new Map<string, UnderWay>();
  #closing = false;

  constructor(deps: OperationDeps) {
    this.#deps = deps;
  }

  /** Resolves when nothing is in progress here for this workspace; undefined if nothing is. */
  settled(userId: string): Promise<void> | undefined {
    return this.#underWay.get(userId)?.done;
  }

  /** False if the key that opens its daemon is no longer known here. */
  canOpen(keyId: string | null): boolean {
    return keyId !== null && this.#deps.secrets.byId.has(keyId);
  }

  /** The daemon of a generation. */
  daemonOf(userId: string, generation: number, keyId: string): Daemon {
    const { runtime, secrets, timings } = this.#deps;
    return createDaemon({
      healthMs: timings.healthMs,
      address: async () => runtime.dial(userId),
      answered: () => runtime.answered?.(userId),
      // Without its key, the daemon cannot be opened; it refuses any other token.
      token: daemonToken(secrets, keyId, userId, generation) ?? 'unknown',
    });
  }

  /** Begins to start a stopped workspace. False if another process was faster or it may not be started. */
  async start(row: Pick<WorkspaceRow, 'user_id' | 'generation'>): Promise<boolean> {
    const { runtime, host, secrets } = this.#deps;
    if (this.#closing) throw new ServiceStopping();
    const operation = { id: randomUUIDv7(), userId: row.user_id, generation: row.generation + 1 };
    const workspaceToken = newWorkspaceToken();
    const placement = {
      runtime: runtime.kind,
      host,
      keyId: secrets.current.id,
      tokenHash: sha256(workspaceToken),
      modelTokenHash: sha256(modelTokenOf(workspaceToken)),
    };
    const begun = await beginStart(this.#deps, operation, placement);
    if (begun === undefined) return false;
    this.#begin(operation, (end) => this.#start(operation, begun, workspaceToken, end));
    return true;
  }

  /**
   * Begins to stop what the rule allows; its leases and tokens are invalid when this resolves. False if there was
   * nothing to stop.
   */
  async stop(
    stop: { userId: string; generation?: number; reason: StopReason; error?: string },
    rule: StopRule,
  ): Promise<boolean> {
    const operation = await beginStop(this.#deps, { ...stop, id: randomUUIDv7() }, rule);
    if (operation === undefined) return false;
    this.#begin(operation, async (end) => {
      await this.#beating(operation, end, () => this.#end(operation));
    });
    await clearLeases(this.#deps, stop.userId);
    this.#deps.log.info({ userId: stop.userId, reason: stop.reason }, 'workspace stopped');
    return true;
  }

  /** Continues an abandoned start or stop: adopts what is running, ends everything else. */
  async recover(row: Pick<WorkspaceRow, 'user_id' | 'generation'>): Promise<void> {
    const operation = { id: randomUUIDv7(), userId: row.user_id, generation: row.generation };
    const taken = await takeOver(this.#deps, operation);
    if (taken === undefined) return;
    this.#begin(operation, async (end) => {
      await this.#beating(operation, end, async () => {
        if (taken.phase === 'starting' && (await this.#adopt(operation, taken, end.signal))) return;
        await this.#end(operation);
      });
    });
    await this.settled(row.user_id);
  }

  /** Ends this process's starts; running workspaces continue. */
  async close(): Promise<void> {
    this.#closing = true;
    const under = [...this.#underWay.values()];
    for (const { end } of under) end.abort(new ServiceStopping());
    await waitAtMost(this.#deps.clock, settleMs, Promise.allSettled(under.map(({ done }) => done)));
  }

  #begin(operation: Operation, work: (end: AbortController) => Promise<void>): void {
    const { userId } = operation;
    const end = new AbortController();
    const before = this.#underWay.get(userId);
    before?.end.abort(new Superseded());
    const done = (before?.done ?? Promise.resolve())
      .then(() => work(end))
      .catch((error) => this.#deps.log.error({ userId, cause: error }, 'workspace operation failed'))
      .finally(() => {
        if (this.#underWay.get(userId) === underWay) this.#underWay.delete(userId);
      });
    const underWay = { end, done };
    this.#underWay.set(userId, underWay);
  }

  /** Does the work while reporting progress; aborts it when the row no longer belongs to the operation. */
  async #beating(operation: Operation, end: AbortController, work: () => Promise<void>): Promise<void> {
    const { runtime, log, timings } = this.#deps;
    const beat = async (): Promise<void> => {
      const waitsFor = this.#slots.isFull ? 'Waiting for other workspaces to start' : undefined;
      const status = await runtime.status(operation.userId).catch(() => undefined);
      const mine = await renewOperation(this.#deps, operation, status?.detail ?? waitsFor);
      if (!mine) end.abort(new Superseded());
    };
    const timer = this.#deps.clock.every(timings.beatMs, () =>
      beat().catch((error) => log.debug({ cause: error }, 'failed to store the state of a workspace operation')),
    );
    try {
      await work();
    } finally {
      timer.stop();
    }
  }

  async #start(operation: Operation, row: WorkspaceRow, workspaceToken: string, end: AbortController): Promise<void> {
    const startedAt = this.#deps.clock.elapsed();
    const limit = new AbortController();
    void this.#deps.clock.sleep(this.#deps.timings.startMs, limit.signal).then(
      () => end.abort(new TookTooLong()),
      () => undefined,
    );
    await this.#beating(operation, end, async () => {
      try {
        await this.#launch(operation, row, workspaceToken, end.signal);
        if (!(await finishStart(this.#deps, operation))) throw new Superseded();
        this.#started(operation, 'ready', startedAt);
      } catch (error) {
        // The signal first ends the start that the runtime has begun.
        end.abort(error);
        await this.#failed(operation, error, startedAt);
      } finally {
        limit.abort();
      }
    });
  }

  async #launch(operation: Operation, row: WorkspaceRow, workspaceToken: string, signal: AbortSignal): Promise<void> {
    const { userId: id, generation } = operation;
    const { runtime, secrets } = this.#deps;
    const token = daemonToken(secrets, row.key_id ?? '', id, generation) ?? '';
    const release = await this.#slots.take(signal);
    try {
      const begun = runtime.start(
        { id, generation, slot: row.slot, daemonTokenHash: sha256(token), workspaceToken },
        signal,
      );
      await unlessAborted(begun, signal, { clock: this.#deps.clock, milliseconds: settleMs });
      await this.#untilHealthy(operation, row, signal);
    } finally {
      release();
    }
  }

  /** Waits for the daemon's health; fails as soon as the runtime reports that it has ended. */
  async #untilHealthy({ userId, generation }: Operation, row: WorkspaceRow, signal: AbortSignal): Promise<void> {
    const { runtime, clock } = this.#deps;
    const daemon = this.daemonOf(userId, generation, row.key_id ?? '');
    for (;;) {
      signal.throwIfAborted();
      try {
        const health = await daemon.health(signal);
        if (health.generation === generation) return;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof OtherProtocol) throw new RuntimeFailure(otherRelease[runtime.kind], { cause: error });
      }
      const status = await runtime.status(userId);
      if (status.phase === 'stopped') throw new RuntimeFailure(status.detail ?? 'It ended while it started');
      await clock.sleep(probeMs, signal);
    }
  }

  async #failed(operation: Operation, error: unknown, startedAt: number): Promise<void> {
    const { runtime, log, timings } = this.#deps;
    const status = await runtime.status(operation.userId).catch(() => undefined);
    const reason = startFailure(error, status?.detail, timings.startMs);
    const stopReason = error instanceof ServiceStopping ? 'lost' : 'failed';
    log.warn({ userId: operation.userId, reason, cause: error }, 'workspace did not start');
    if (!(await failStart(this.#deps, operation, stopReason, reason))) {
      // Another process owns the row. A workspace that started after its stop is left over.
      await this.stop({ userId: operation.userId, generation: operation.generation, reason: 'lost' }, leftOver);
      return;
    }
    this.#started(operation, 'failed', startedAt);
    // The next start ends what is left of this one, so that a failing runtime does not block it.
    await this.#endRuntime(operation.userId).catch((cause) =>
      log.warn({ cause }, 'failed to stop a workspace that did not start'),
    );
    await finishStop(this.#deps, operation);
  }

  #started({ userId, generation }: Operation, outcome: 'ready' | 'failed', startedAt: number): void {
    const milliseconds = Math.round(this.#deps.clock.elapsed() - startedAt);
    this.#deps.metrics.workspaceStarted(outcome, milliseconds / 1000);
    if (outcome === 'ready') this.#deps.log.info({ userId, generation, milliseconds }, 'workspace started');
  }

  async #end(operation: Operation): Promise<void> {
    await this.#endRuntime(operation.userId);
    await finishStop(this.#deps, operation);
  }

  async #endRuntime(userId: string): Promise<void> {
    const limit = AbortSignal.timeout(stopMs);
    await unlessAborted(this.#deps.runtime.stop(userId, this.#deps.timings.graceMs), limit);
  }

  /** True if an abandoned start has succeeded and is ours. */
  async #adopt(operation: Operation, row: WorkspaceRow, signal: AbortSignal): Promise<boolean> {
    const { runtime, log } = this.#deps;
    const status = await runtime.status(operation.userId);
    if (status.phase !== 'stopped' && status.generation === operation.generation) {
      const limit = new AbortController();
      const overtime = this.#deps.clock.sleep(adoptMs, limit.signal).then(() => false);
      const either = AbortSignal.any([signal, limit.signal]);
      const healthy = await Promise.race([this.#untilHealthy(operation, row, either).then(() => true), overtime]).catch(
        () => false,
      );
      overtime.catch(() => undefined);
      limit.abort(new TookTooLong());
      if (healthy && (await finishStart(this.#deps, operation))) {
        log.info({ userId: operation.userId }, 'took over a workspace that another replica started');
        return true;
      }
    }
    await failStart(this.#deps, operation, 'lost', 'The replica that started it is gone');
    return false;
  }
}

const image =
  'Its image has the daemon of another release of Homeport: build or name the image of this release (WORKSPACE_IMAGE)';
const otherRelease = {
  docker: image,
  kubernetes: image,
  local: 'The daemon beside this program belongs to another release of Homeport: install or build it completely',
};

const leftOver: StopRule = { kind: 'left over' };

function startFailure(error: unknown, detail: string | undefined, startMs: number): string {
  if (!(error instanceof RuntimeFailure)) return 'The workspace could not be started';
  if (!(error instanceof TookTooLong)) return error.message;
  const waited = `It was not ready within ${Math.round(startMs / 1000)} seconds`;
  return detail === undefined ? waited : `${waited}: ${detail}`;
}
