import { ApiError } from '@homeport/contracts/errors';
import type { Logger } from 'pino';
import { databaseUnavailable } from '../db/failures.ts';
import type { Database } from '../db/pool.ts';
import type { Clock, Timer } from '../platform/clock.ts';
import { within } from '../platform/waits.ts';
import { findLiveSessions } from './sessions.ts';

/** How often sessions are checked: with the query's time, lost access disconnects within five seconds. */
export const sessionCheckMs = 2_500;
const checkWithinMs = 2_000;

type Watched = { id: string; end: (reason: ApiError) => void; endsUnchecked: boolean };
type WatchDeps = { db: Pick<Database, 'pool'>; clock: Clock; log: Pick<Logger, 'warn'> };
/** Which of these ids still give access. */
type FindLive = (db: Pick<Database, 'pool'>, ids: readonly string[], now: number) => Promise<Set<string>>;

/**
 * Closes a terminal, a stream or a model call once the session (or the workspace token) that opened it has ended. Each
 * replica checks all of its own with one statement.
 */
export class SessionWatch {
  readonly #deps: WatchDeps;
  readonly #findLive: FindLive;
  readonly #watched = new Set<Watched>();
  #timer: Timer | undefined;

  constructor(deps: WatchDeps, findLive: FindLive = findLiveSessions) {
    this.#deps = deps;
    this.#findLive = findLive;
  }

  /**
   * Calls `end` when the session is over and, with `endsUnchecked`, also when that cannot be checked. Returns a
   * function that stops watching. An empty id, of a workspace, which has no session, is not watched.
   */
  watch(id: string, end: (reason: ApiError) => void, { endsUnchecked }: { endsUnchecked: boolean }): () => void {
    if (id === '') return () => undefined;
    const watched = { id, end, endsUnchecked };
    this.#watched.add(watched);
    this.#timer ??= this.#deps.clock.every(sessionCheckMs, () => this.#check());
    return () => {
      this.#watched.delete(watched);
      if (this.#watched.size > 0) return;
      this.#timer?.stop();
      this.#timer = undefined;
    };
  }

  async #check(): Promise<void> {
    const ids = new Set([...this.#watched].map(({ id }) => id));
    try {
      const { db, clock } = this.#deps;
      const limit = { clock, milliseconds: checkWithinMs, tooLate: () => databaseUnavailable() };
      const live = await within(limit, () => this.#findLive(db, [...ids], clock.now()));
      for (const { id, end } of [...this.#watched]) {
        if (ids.has(id) && !live.has(id)) end(new ApiError('unauthorized', 'Sign in first'));
      }
    } catch (error) {
      this.#deps.log.warn({ cause: error }, 'failed to check whether open sessions are still valid');
      const reason = new ApiError('workspace_request_failed', 'The session could not be checked');
      for (const { end, endsUnchecked } of [...this.#watched]) if (endsUnchecked) end(reason);
    }
  }
}
