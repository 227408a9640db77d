import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../clock.ts';

export type TurnLimits = {
  atOnce: number;
  /** How many may wait; beyond that, the longest lane loses its newest. */
  waiting: number;
  waitMs: number;
};
export type TurnTaker = {
  /** Lanes take turns, however many are waiting in each. */
  lane: string;
  /** Goes before unknown ones, except in every fourth turn. */
  isKnown: boolean;
  signal: AbortSignal;
};

type Waiter = { begin: () => void; refuse: (reason: unknown) => void };
type Lanes = Map<string, Waiter[]>;

const strangersEvery = 4;

/** Turns at something scarce, a limited number at once, fair between lanes: crowding a lane delays only that lane. */
export class FairTurns {
  readonly #limits: TurnLimits;
  readonly #lanes: { known: Lanes; strangers: Lanes } = { known: new Map(), strangers: new Map() };
  #running = 0;
  #waiting = 0;
  #given = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when its turn comes. Throws `rate_limited` if too many are waiting or it takes too long, and the
   * signal's reason.
   */
  async take<T>(who: TurnTaker, work: () => Promise<T>): Promise<T> {
    who.signal.throwIfAborted();
    if (this.#running < this.#limits.atOnce) this.#running += 1;
    else await this.#wait(who);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#next();
    }
  }

  #wait({ lane, isKnown, signal }: TurnTaker): Promise<void> {
    const lanes = isKnown ? this.#lanes.known : this.#lanes.strangers;
    if (this.#waiting >= this.#limits.waiting) this.#makeRoom(lanes.get(lane)?.length ?? 0);
    return new Promise((resolve, reject) => {
      const settle = () => {
        timer.stop();
        signal.removeEventListener('abort', leave);
        this.#waiting -= 1;
      };
      const waiter: Waiter = {
        begin: () => {
          settle();
          resolve();
        },
        refuse: (reason) => {
          settle();
          remove(lanes, lane, waiter);
          reject(reason);
        },
      };
      const leave = () => waiter.refuse(signal.reason);
      const timer = systemClock.after(this.#limits.waitMs, () => waiter.refuse(tooMany()));
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting += 1;
      lanes.set(lane, [...(lanes.get(lane) ?? []), waiter]);
    });
  }

  /** Refuses the newest in the longest lane, an unknown one first; the newcomer if no lane is longer than theirs. */
  #makeRoom(own: number): void {
    for (const lanes of [this.#lanes.strangers, this.#lanes.known]) {
      let longest: Waiter[] = [];
      for (const waiters of lanes.values()) if (waiters.length > longest.length) longest = waiters;
      if (longest.length > own + 1) {
        longest.at(-1)?.refuse(tooMany());
        return;
      }
    }
    throw tooMany();
  }

  #next(): void {
    if (this.#running >= this.#limits.atOnce) return;
    const { known, strangers } = this.#lanes;
    this.#given += 1;
    const strangersFirst = this.#given % strangersEvery === 0;
    const waiter = strangersFirst ? (shift(strangers) ?? shift(known)) : (shift(known) ?? shift(strangers));
    if (waiter === undefined) return;
    this.#running += 1;
    waiter.begin();
  }
}

/** The first in the lane whose turn it is; the lane then goes to the end. */
function shift(lanes: Lanes): Waiter | undefined {
  const first = lanes.entries().next().value;
  if (first === undefined) return undefined;
  const [lane, [waiter, ...rest]] = first;
  lanes.delete(lane);
  if (rest.length > 0) lanes.set(lane, rest);
  return waiter;
}

function remove(lanes: Lanes, lane: string, waiter: Waiter): void {
  const rest = (lanes.get(lane) ?? []).filter((other) => other !== waiter);
  if (rest.length > 0) lanes.set(lane, rest);
  else lanes.delete(lane);
}

function tooMany(): ApiError {
  return new ApiError('rate_limited', 'Too many sign-ins right now. Try again in a moment.', { retryAfter: 5 });
}
