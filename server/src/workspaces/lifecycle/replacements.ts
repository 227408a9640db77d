import type { Logger } from 'pino';
import { z } from 'zod';
import type { Database } from '../../db/pool.ts';
import type { Clock } from '../../platform/clock.ts';
import { OtherProtocol } from '../daemon.ts';
import type { Operations } from './lifecycle.ts';
import { findWorkspace, type WorkspaceState } from './rows.ts';

type ReplacementDeps = { db: Database; clock: Clock; log: Logger; operations: Operations; drainMs: number };
type UnderWay = { generation: number; until: number; done: Promise<void> };

const pollMs = 500;
const noticeMs = 2_000;
const anything = z.unknown();

/**
 * Replaces workspaces whose daemon belongs to another release (contracts/src/workspace/daemon.ts): nothing new is sent to them,
 * running commands and terminals get `drainMs` and a notice, then the workspace is stopped, and started again if
 * something was using it.
 */
export class Replacements {
  readonly #deps: ReplacementDeps;
  readonly #restart: (userId: string) => Promise<void>;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #end = new AbortController();

  constructor(deps: ReplacementDeps, restart: (userId: string) => Promise<void>) {
    this.#deps = deps;
    this.#restart = restart;
  }

  /** Begins to replace this generation unless that has begun; resolves when it no longer runs. */
  begin(row: Pick<WorkspaceState, 'user_id' | 'generation' | 'key_id'>, found: OtherProtocol): Promise<void> {
    const { user_id: userId, generation } = row;
    const known = this.#underWay.get(userId);
    if (known?.generation === generation) return known.done;
    const { clock, log, drainMs } = this.#deps;
    log.info({ userId, generation, protocol: found.version }, 'replacing a workspace of another release');
    const until = clock.now() + drainMs;
    const replaced = this.#replace(row, found, until);
    const done = replaced.then(() => undefined);
    done.catch(() => undefined);
    const underWay = { generation, until, done };
    this.#underWay.set(userId, underWay);
    void replaced
      .finally(() => {
        if (this.#underWay.get(userId) === underWay) this.#underWay.delete(userId);
      })
      .then((wasUsed) => (wasUsed && !this.#end.signal.aborted ? this.#restart(userId) : undefined))
      .catch((cause) => log.warn({ userId, cause }, 'failed to replace a workspace of another release'));
    return done;
  }

  /** For the workspace's owner; undefined if this generation is not being replaced. */
  messageOf(userId: string, generation: number): string | undefined {
    const known = this.#underWay.get(userId);
    if (known?.generation !== generation) return undefined;
    const seconds = Math.max(1, Math.ceil((known.until - this.#deps.clock.now()) / 1000));
    return `It belongs to another release of Homeport: it restarts when what runs in it has ended, in ${seconds} seconds at the latest`;
  }

  /** Stops waiting; another process finds what is left. */
  async close(): Promise<void> {
    this.#end.abort(new Error('The service is stopping'));
    await Promise.allSettled([...this.#underWay.values()].map(({ done }) => done));
  }

  /** True if something was using it. */
  async #replace(
    { user_id: userId, generation, key_id: keyId }: Pick<WorkspaceState, 'user_id' | 'generation' | 'key_id'>,
    found: OtherProtocol,
    until: number,
  ): Promise<boolean> {
    const { clock, operations, drainMs } = this.#deps;
    const daemon = operations.daemonOf(userId, generation, keyId ?? '');
    const row = await findWorkspace(this.#deps, userId);
    if (found.isBusy) {
      const seconds = Math.round(drainMs / 1000);
      const message = `Homeport was upgraded. This workspace restarts in ${seconds} seconds; files are kept, programs end.`;
      // A daemon from before there were notices refuses it.
      await daemon.call('/v1/drain', anything, { json: { message }, timeoutMs: noticeMs }).catch(() => undefined);
    }
    for (let isBusy = found.isBusy; isBusy && clock.now() < until; ) {
      await clock.sleep(Math.min(pollMs, Math.max(1, until - clock.now())), this.#end.signal);
      const state = await findWorkspace(this.#deps, userId);
      if (state?.phase !== 'running' || state.generation !== generation) return false;
      isBusy = await daemon.health(this.#end.signal).then(
        () => false,
        (error) => !(error instanceof OtherProtocol) || error.isBusy,
      );
    }
    const error = 'It was stopped because it belonged to another release of Homeport; its files are kept';
    await operations.stop({ userId, generation, reason: 'release', error }, { kind: 'running' });
    await operations.settled(userId);
    return found.isBusy || row?.in_use === true;
  }
}
