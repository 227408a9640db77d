import { ApiError } from '@homeport/contracts/errors';
import type { Logger } from 'pino';
import type { Clock, Timer } from '../clock.ts';
import type { Database } from '../db/pool.ts';
import { within } from '../waits.ts';
import { findLiveSessions } from './sessions.ts';

/** How often sessions are checked: with the query's time, whoever lost access is disconnected within five seconds. */
export const sessionCheckMs = 2_500;
const checkWithinMs = 2_000;

type Watched = { sessionId: string; end: (reason: ApiError) => void; endsUnchecked: boolean };

/**
 * Closes what stays open for a session, such as a terminal or a stream, once that session is over. Each replica checks
 * all of its own with one statement.
 */
export class SessionWatch {
  readonly #deps: { db: Pick<Database, 'pool'>; clock: Clock; log: Pick<Logger, 'warn'> };
  readonly #watched = new Set<Watched>();
  #timer: Timer | undefined;

  constructor(deps: { db: Pick<Database, 'pool'>; clock: Clock; log: Pick<Logger, 'warn'> }) {
    this.#deps = deps;
  }

  /**
   * Calls `end` when the session is over and, with `endsUnchecked`, also when that cannot be checked. Returns a
   * function that stops watching. A workspace acts without a session, so nothing is watched then.
   */
  watch(sessionId: string, end: (reason: ApiError) => void, { endsUnchecked }: { endsUnchecked: boolean }): () => void {
    if (sessionId === '') return () => undefined;
    const watched = { sessionId, end, endsUnchecked };
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
    const ids = new Set([...this.#watched].map(({ sessionId }) => sessionId));
    try {
      const { db, clock } = this.#deps;
      const limit = { clock, milliseconds: checkWithinMs, tooLate: () => new Error('no answer in time') };
      const live = await within(limit, () => findLiveSessions(db, [...ids], clock.now()));
      for (const { sessionId, end } of [...this.#watched]) {
        if (ids.has(sessionId) && !live.has(sessionId)) end(new ApiError('unauthorized', 'Sign in first'));
      }
    } catch (error) {
      this.#deps.log.warn({ cause: error }, 'open sessions could not be checked');
      const reason = new ApiError('workspace_request_failed', 'The session could not be checked');
      for (const { end, endsUnchecked } of [...this.#watched]) if (endsUnchecked) end(reason);
    }
  }
}
