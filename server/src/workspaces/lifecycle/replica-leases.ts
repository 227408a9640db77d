import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import type { Database, DatabaseLog } from '../../db/pool.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Daemon } from '../daemon.ts';
import type { LeaseKind, WorkspaceLease } from '../workspaces.ts';
import { type Lease, releaseLeases, renewLeases, takeLease } from './leases.ts';
import { listRunning } from './rows.ts';
import type { WorkspaceTimings } from './timings.ts';

type LeaseDeps = { db: Database; clock: Clock; log: DatabaseLog; timings: WorkspaceTimings };
export type TakenLease = Omit<WorkspaceLease, 'doubt'> & { generation: number; keyId: string };
type Held = { lease: Lease; end: AbortController; touchedAt: number };

/** Leases that lapse without activity, since a person can leave a terminal or transfer open. */
const lapsing: ReadonlySet<LeaseKind> = new Set(['terminal', 'transfer']);

/** This replica's leases: renewed until they are released; a lease's signal aborts when its workspace is gone. */
export class ReplicaLeases {
  readonly #deps: LeaseDeps;
  readonly #held = new Map<string, Held>();
  readonly #timers: Timer[];
  readonly #jobs = new Map<string, Promise<void>>();

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
    const { renewMs, watchMs } = deps.timings;
    this.#timers = [
      this.#deps.clock.every(renewMs, () => this.#job('renew', () => this.renew())),
      this.#deps.clock.every(watchMs, () => this.#job('watch', () => this.watch())),
    ];
  }

  /** A hold on the workspace if it is running. */
  async take(
    userId: string,
    kind: LeaseKind,
    daemonOf: (userId: string, generation: number, keyId: string) => Daemon,
  ): Promise<TakenLease | undefined> {
    const id = randomUUIDv7();
    const taken = await takeLease(this.#deps, { id, userId, kind });
    if (taken === undefined) return undefined;
    const { generation, keyId } = taken;
    const held: Held = {
      lease: { id, userId, generation, kind },
      end: new AbortController(),
      touchedAt: this.#deps.clock.now(),
    };
    this.#held.set(id, held);
    return {
      generation,
      keyId,
      daemon: daemonOf(userId, generation, keyId),
      signal: held.end.signal,
      touch: () => this.#touch(held),
      release: () => this.#release([held]),
    };
  }

  /** Tells the holders of this workspace that it is gone. */
  end(userId: string, generation?: number): void {
    for (const held of this.#held.values()) {
      const { lease } = held;
      if (lease.userId === userId && (generation === undefined || lease.generation <= generation)) this.#lose(held);
    }
  }

  /** Renews all leases in use. */
  async renew(): Promise<void> {
    const due = [...this.#held.values()].filter((held) => !this.#hasLapsed(held));
    const holding = await renewLeases(
      this.#deps,
      due.map((held) => held.lease),
    );
    for (const held of due) if (!holding.has(held.lease.id)) this.#lose(held);
  }

  /** Finds out which workspaces were stopped or restarted, here or elsewhere. */
  async watch(): Promise<void> {
    const held = [...this.#held.values()];
    if (held.length === 0) return;
    const running = await listRunning(this.#deps, [...new Set(held.map(({ lease }) => lease.userId))]);
    for (const one of held) if (running.get(one.lease.userId) !== one.lease.generation) this.#lose(one);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) timer.stop();
    await Promise.all(this.#jobs.values());
    await this.#release([...this.#held.values()]);
  }

  #hasLapsed({ lease, touchedAt }: Held): boolean {
    return lapsing.has(lease.kind) && touchedAt < this.#deps.clock.now() - this.#deps.timings.lapseMs;
  }

  #touch(held: Held): void {
    const lapsed = this.#hasLapsed(held);
    held.touchedAt = this.#deps.clock.now();
    // Its lease can have expired, with a stop of the workspace about to begin.
    if (lapsed && this.#held.has(held.lease.id)) this.#job('renew', () => this.renew());
  }

  #lose(held: Held): void {
    // A hold that was released in the meantime is not told.
    if (!this.#held.delete(held.lease.id)) return;
    held.end.abort(new ApiError('workspace_request_failed', 'The workspace was stopped'));
  }

  async #release(held: Held[]): Promise<void> {
    const mine = held.filter(({ lease }) => this.#held.delete(lease.id));
    try {
      await releaseLeases(
        this.#deps,
        mine.map(({ lease }) => lease),
      );
    } catch (error) {
      // It expires by itself.
      this.#deps.log.debug({ cause: error }, 'failed to release a workspace lease');
    }
  }

  #job(name: string, work: () => Promise<void>): void {
    if (this.#jobs.has(name)) return;
    const job = work()
      .catch((error) => this.#deps.log.debug({ job: name, cause: error }, 'failed to renew workspace leases'))
      .finally(() => this.#jobs.delete(name));
    this.#jobs.set(name, job);
  }
}
