import { ApiError } from '@homeport/contracts/errors';
import { z } from 'zod';
import { findLiveSessions } from '../accounts/sessions.ts';
import type { Deps } from '../deps.ts';
import type { UpgradeInput } from '../http/upgrade.ts';
import { validate } from '../http/validate.ts';
import { joinStreams } from './join-streams.ts';

/** The terminal of a workspace as a WebSocket: not a row of the endpoint table, because no row answers with one. */
export const terminalPath = '/api/workspace/terminal';

const terminalsPerUser = 8;
/** With the wait for its answer: who may no longer be here is gone within five seconds. */
const checkEveryMs = 2_500;
const checkWithinMs = 2_000;

const size = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'Must be a whole number from 1 to 999')
  .optional();
const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'Must be 1 to 64 of A-Z a-z 0-9 _ -');
const terminalQuery = z.object({ id, columns: size, rows: size });

type OpenTerminal = { userId: string; sessionId: string; end: AbortController };

/** The terminals that this replica passes on between browsers and daemons. */
export class Terminals {
  readonly #deps: Pick<Deps, 'workspaces' | 'db' | 'clock' | 'log'>;
  readonly #open = new Set<OpenTerminal>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deps: Pick<Deps, 'workspaces' | 'db' | 'clock' | 'log'>) {
    this.#deps = deps;
  }

  /** Resolves when the terminal's connection is over. */
  async open({ actor, query, signal, accept }: UpgradeInput): Promise<void> {
    const { id, columns = '80', rows = '24' } = validate(terminalQuery, query);
    const terminal: OpenTerminal = { userId: actor.id, sessionId: actor.sessionId, end: new AbortController() };
    this.#admit(terminal);
    try {
      const asked = AbortSignal.any([signal, terminal.end.signal]);
      const hold = await this.#deps.workspaces.hold(actor.id, 'terminal', asked);
      try {
        const over = AbortSignal.any([terminal.end.signal, hold.signal]);
        const path = `/v1/terminal?${new URLSearchParams({ id, columns, rows })}`;
        const daemon = await hold.daemon.upgrade(path, AbortSignal.any([asked, hold.signal]));
        // From here on the daemon's connection is ours to end.
        daemon.pause();
        if (asked.aborted) daemon.destroy();
        asked.throwIfAborted();
        await joinStreams(accept(), daemon, () => hold.touch(), over);
      } finally {
        await hold.release();
      }
    } finally {
      this.#open.delete(terminal);
      if (this.#open.size === 0) clearInterval(this.#timer);
    }
  }

  /** Ends every connection; the terminals themselves go on in their workspaces. */
  close(): void {
    this.#isClosed = true;
    this.#endAll('The service is being restarted');
  }

  #admit(terminal: OpenTerminal): void {
    if (this.#isClosed) throw new ApiError('workspace_request_failed', 'The service is being restarted');
    const own = [...this.#open].filter(({ userId }) => userId === terminal.userId).length;
    if (own >= terminalsPerUser) {
      throw new ApiError('rate_limited', `At most ${terminalsPerUser} terminals can be open at once`, {
        retryAfter: 5,
      });
    }
    this.#open.add(terminal);
    if (this.#open.size > 1) return;
    this.#timer = setInterval(() => void this.#check(), checkEveryMs);
    this.#timer.unref();
  }

  /** Ends the terminals of sessions that are over. Where nobody can say whether they are, too. */
  async #check(): Promise<void> {
    const ids = new Set([...this.#open].map(({ sessionId }) => sessionId));
    try {
      const live = await within(checkWithinMs, findLiveSessions(this.#deps.db, [...ids], this.#deps.clock.now()));
      for (const { sessionId, end } of this.#open) {
        if (ids.has(sessionId) && !live.has(sessionId)) end.abort(new ApiError('unauthorized', 'Sign in first'));
      }
    } catch (error) {
      this.#deps.log.warn({ cause: error }, 'terminals are ended: their sessions could not be checked');
      this.#endAll('The session could not be checked');
    }
  }

  #endAll(message: string): void {
    for (const { end } of this.#open) end.abort(new ApiError('workspace_request_failed', message));
  }
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), ms);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
