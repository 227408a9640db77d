import { ApiError } from '@homeport/contracts/errors';
import { type Clock, systemClock } from '../clock.ts';
import { mostCounted, RecentCounts } from './recent-counts.ts';

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
  /** Orders unknown lanes that had equally many turns: the account that the attempt is for. */
  target?: string;
};

type Waiter = { target: string; begin: () => void; refuse: (reason: unknown) => void };
type Lanes = Map<string, Waiter[]>;

const strangersEvery = 4;

/**
 * Semaphore that is fair between lanes: crowding a lane delays only that lane. Among unknown lanes, the one with the
 * fewest turns in the last ten minutes is next, so a newcomer overtakes networks that keep guessing.
 */
export class FairTurns {
  readonly #limits: TurnLimits;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #recent: RecentCounts;
  readonly #lanes: { known: Lanes; strangers: Lanes } = { known: new Map(), strangers: new Map() };
  #running = 0;
  #waiting = 0;
  #given = 0;
  #givenToStrangers = 0;

  constructor(limits: TurnLimits, clock: Pick<Clock, 'elapsed' | 'after'> = systemClock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#recent = new RecentCounts(clock);
  }

  /**
   * Runs `work` when its turn comes. Throws `rate_limited` if too many are waiting or it takes too long, and the
   * signal's reason.
   */
  async take<T>(who: TurnTaker, work: () => Promise<T>): Promise<T> {
    who.signal.throwIfAborted();
    if (this.#running < this.#limits.atOnce) {
      this.#running += 1;
      if (!who.isKnown) this.#count(who.lane, who.target ?? '');
    } else await this.#wait(who);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#next();
    }
  }

  #wait({ lane, isKnown, signal, target = '' }: TurnTaker): Promise<void> {
    const lanes = isKnown ? this.#lanes.known : this.#lanes.strangers;
    if (this.#waiting >= this.#limits.waiting) this.#makeRoom(this.#weight(lane, lanes.get(lane)));
    return new Promise((resolve, reject) => {
      const settle = () => {
        timer.stop();
        signal.removeEventListener('abort', leave);
        this.#waiting -= 1;
      };
      const waiter: Waiter = {
        target,
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
      const timer = this.#clock.after(this.#limits.waitMs, () => waiter.refuse(tooMany()));
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting += 1;
      lanes.set(lane, [...(lanes.get(lane) ?? []), waiter]);
    });
  }

  /** Refuses the newest in the heaviest lane, an unknown one first; the newcomer if no lane is heavier than theirs. */
  #makeRoom(own: number): void {
    for (const lanes of [this.#lanes.strangers, this.#lanes.known]) {
      let heaviest: Waiter | undefined;
      let most = own + 1;
      for (const [lane, waiters] of lanes) {
        const weight = this.#weight(lane, waiters);
        if (weight > most) [heaviest, most] = [waiters.at(-1), weight];
      }
      if (heaviest !== undefined) {
        heaviest.refuse(tooMany());
        return;
      }
    }
    throw tooMany();
  }

  #weight(lane: string, waiters: readonly Waiter[] = []): number {
    return waiters.length + this.#recent.of(laneKey(lane));
  }

  #next(): void {
    if (this.#running >= this.#limits.atOnce) return;
    const { known } = this.#lanes;
    this.#given += 1;
    const strangersFirst = this.#given % strangersEvery === 0;
    const waiter = strangersFirst
      ? (this.#nextStranger() ?? shift(known, firstOf(known)))
      : (shift(known, firstOf(known)) ?? this.#nextStranger());
    if (waiter === undefined) return;
    this.#running += 1;
    waiter.begin();
  }

  /**
   * From the lane with the fewest recent turns, then for the account with the fewest; the newest and the oldest of
   * those alternate, so that a burst of new networks delays neither the attempt before it nor the one after it.
   */
  #nextStranger(): Waiter | undefined {
    const { strangers } = this.#lanes;
    let [fewest, lanes]: [number, string[]] = [Number.POSITIVE_INFINITY, []];
    for (const [lane, [waiter]] of strangers) {
      const ofTarget = Math.min(this.#recent.of(targetKey(waiter?.target ?? '')), mostCounted - 1);
      const count = this.#recent.of(laneKey(lane)) * mostCounted + ofTarget;
      if (count < fewest) [fewest, lanes] = [count, []];
      if (count === fewest) lanes.push(lane);
    }
    const lane = this.#givenToStrangers % 2 === 0 ? lanes.at(-1) : lanes[0];
    const waiter = shift(strangers, lane);
    if (lane === undefined || waiter === undefined) return undefined;
    this.#givenToStrangers += 1;
    this.#count(lane, waiter.target);
    return waiter;
  }

  #count(lane: string, target: string): void {
    this.#recent.add(laneKey(lane));
    if (target !== '') this.#recent.add(targetKey(target));
  }
}

function laneKey(lane: string): string {
  return `lane ${lane}`;
}

function targetKey(target: string): string {
  return `target ${target}`;
}

function firstOf(lanes: Lanes): string | undefined {
  return lanes.keys().next().value;
}

/** The first waiter of a lane; the lane then goes to the end. */
function shift(lanes: Lanes, lane: string | undefined): Waiter | undefined {
  if (lane === undefined) return undefined;
  const [waiter, ...rest] = lanes.get(lane) ?? [];
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
