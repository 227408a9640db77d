import { ApiError } from '@homeport/contracts/errors';
import type { Clock, Timer } from '../../platform/clock.ts';
import { Semaphore } from '../../platform/concurrency/semaphore.ts';
import type { Daemon } from '../daemon.ts';
import type { WorkspaceLease, Workspaces } from '../workspaces.ts';

/** How long a workspace is held after the last request, so that a page's hundred files take one lease. */
const lingerMs = 15_000;
const requestsMax = 64;
const waitingMax = 512;
const socketsMax = 32;

export type PreviewLine = { daemon: Daemon; signal: AbortSignal; touch(): void; doubt(): void; release(): void };
type Shared = { hold: Promise<WorkspaceLease>; users: number; linger: Timer | undefined };
type Seats = { requests: Semaphore; sockets: number };

/** The way to people's workspaces for their previews: one lease each, and so many requests at once. */
export class PreviewLines {
  readonly #workspaces: Pick<Workspaces, 'status' | 'hold'>;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #shared = new Map<string, Shared>();
  readonly #seats = new Map<string, Seats>();

  constructor(workspaces: Pick<Workspaces, 'status' | 'hold'>, clock: Pick<Clock, 'after'>) {
    this.#workspaces = workspaces;
    this.#clock = clock;
  }

  /** A place for one request, or for one socket; waits for the former. Throws `rate_limited`. */
  async seat(userId: string, kind: 'request' | 'socket', signal: AbortSignal): Promise<() => void> {
    const seats = this.#seats.get(userId) ?? { requests: new Semaphore(requestsMax), sockets: 0 };
    const full = kind === 'socket' ? seats.sockets >= socketsMax : seats.requests.waiting >= waitingMax;
    if (full) throw new ApiError('rate_limited', 'Too many connections to previews are open', { retryAfter: 2 });
    this.#seats.set(userId, seats);
    if (kind === 'request') {
      const release = await seats.requests.take(signal);
      return () => {
        release();
        this.#tidy(userId, seats);
      };
    }
    seats.sockets += 1;
    return () => {
      seats.sockets -= 1;
      this.#tidy(userId, seats);
    };
  }

  /** The workspace if it is running; undefined otherwise, because what listened in it ended with it. */
  async take(userId: string): Promise<PreviewLine | undefined> {
    let shared = this.#shared.get(userId);
    if (shared === undefined) {
      const { phase } = await this.#workspaces.status(userId);
      if (phase !== 'running') return undefined;
      shared = this.#shared.get(userId) ?? this.#open(userId);
    }
    shared.users += 1;
    shared.linger?.stop();
    const mine = shared;
    const hold = await mine.hold.catch((error: unknown) => {
      this.#leave(userId, mine);
      throw error;
    });
    let isTaken = true;
    return {
      daemon: hold.daemon,
      signal: hold.signal,
      touch: () => hold.touch(),
      doubt: () => {
        hold.doubt();
        this.#forget(userId, mine);
      },
      release: () => {
        if (isTaken) this.#leave(userId, mine);
        isTaken = false;
      },
    };
  }

  #open(userId: string): Shared {
    const hold = this.#workspaces.hold(userId, 'transfer');
    const shared: Shared = { hold, users: 0, linger: undefined };
    this.#shared.set(userId, shared);
    const forget = (): void => this.#forget(userId, shared);
    hold.then(({ signal }) => signal.addEventListener('abort', forget, { once: true }), forget);
    return shared;
  }

  #leave(userId: string, shared: Shared): void {
    shared.users -= 1;
    if (shared.users > 0) return;
    const end = (): void => {
      if (shared.users > 0) return;
      this.#forget(userId, shared);
      shared.hold.then((hold) => hold.release()).catch(() => undefined);
    };
    if (this.#shared.get(userId) === shared) shared.linger = this.#clock.after(lingerMs, end);
    else end();
  }

  #forget(userId: string, shared: Shared): void {
    if (this.#shared.get(userId) === shared) this.#shared.delete(userId);
  }

  #tidy(userId: string, seats: Seats): void {
    if (seats.requests.isIdle && seats.sockets === 0 && this.#seats.get(userId) === seats) this.#seats.delete(userId);
  }
}
