import { ApiError } from '@homeport/contracts/errors';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { validate } from '../http/body/validate.ts';
import type { UpgradeInput } from '../http/upgrade.ts';
import { joinStreams } from './join-streams.ts';

/** A workspace's terminal as a WebSocket: not a row of the endpoint table, because no row answers with one. */
export const terminalPath = '/api/workspace/terminal';

const terminalsPerUser = 8;

const size = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'Must be a whole number from 1 to 999')
  .optional();
const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'Must be 1 to 64 of A-Z a-z 0-9 _ -');
const terminalQuery = z.object({ id, columns: size, rows: size });

type OpenTerminal = { userId: string; end: AbortController };

/** The terminals that this replica relays between browsers and daemons. */
export class Terminals {
  readonly #deps: Pick<Deps, 'workspaces' | 'sessions'>;
  readonly #open = new Set<OpenTerminal>();
  #isClosed = false;

  constructor(deps: Pick<Deps, 'workspaces' | 'sessions'>) {
    this.#deps = deps;
  }

  /** Resolves when the terminal's connection has ended. */
  async open({ actor, query, signal, accept }: UpgradeInput): Promise<void> {
    const { id, columns = '80', rows = '24' } = validate(terminalQuery, query);
    const terminal: OpenTerminal = { userId: actor.id, end: new AbortController() };
    this.#admit(terminal);
    const end = (reason: ApiError) => terminal.end.abort(reason);
    const unwatch = this.#deps.sessions.watch(actor.sessionId, end, { endsUnchecked: true });
    try {
      const asked = AbortSignal.any([signal, terminal.end.signal]);
      const hold = await this.#deps.workspaces.hold(actor.id, 'terminal', asked);
      try {
        const over = AbortSignal.any([terminal.end.signal, hold.signal]);
        const path = `/v1/terminal?${new URLSearchParams({ id, columns, rows })}`;
        const daemon = await hold.daemon.upgrade(path, AbortSignal.any([asked, hold.signal]));
        // From here on, we have to end the daemon's connection.
        daemon.pause();
        if (asked.aborted) daemon.destroy();
        asked.throwIfAborted();
        await joinStreams(accept(), daemon, () => hold.touch(), over);
      } finally {
        await hold.release();
      }
    } finally {
      unwatch();
      this.#open.delete(terminal);
    }
  }

  /** Ends every connection; the terminals themselves keep running in their workspaces. */
  close(): void {
    this.#isClosed = true;
    const reason = new ApiError('workspace_request_failed', 'The service is restarting. Try again.');
    for (const { end } of this.#open) end.abort(reason);
  }

  #admit(terminal: OpenTerminal): void {
    if (this.#isClosed) throw new ApiError('workspace_request_failed', 'The service is restarting. Try again.');
    const own = [...this.#open].filter(({ userId }) => userId === terminal.userId).length;
    if (own >= terminalsPerUser) {
      throw new ApiError('rate_limited', `At most ${terminalsPerUser} terminals can be open at once`, {
        retryAfter: 5,
      });
    }
    this.#open.add(terminal);
  }
}
