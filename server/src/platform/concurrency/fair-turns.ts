import { ApiError } from '@homeport/contracts/errors';
import { type Clock, systemClock, type Timer } from '../clock.ts';
import { mostCounted, RecentCounts } from './recent-counts.ts';

export type TurnLimits = {
  atOnce: number;
  /** Of one lane; as many as there are if absent. */
  perLane?: number;
  /** How many may wait; beyond that, the longest lane loses its newest. */
  waiting: number;
  /** Without end if absent. */
  waitMs?: number;
  /** The words for those who are refused. */
  busy?: string;
};
export type TurnTaker = {
  /** A person or network. Lanes take turns, however many are waiting in each: the one that waits longest is next. */
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
 * Slots that is fair between lanes: crowding a lane delays only that lane. Among unknown lanes, the one with the
 * fewest turns in the last ten minutes is next, so a newcomer overtakes networks that keep guessing.
 */
export class FairTurns {
  readonly #limits: TurnLimits;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #recent: RecentCounts;
  readonly #lanes: { known: Lanes; strangers: Lanes } = { known: new Map(), strangers: new Map() };
  /** By lane, the number of turns that are running. */
  readonly #inTurn = new Map<string, number>();
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
    if (this.#running < this.#limits.atOnce && this.#mayRun(who.lane)) {
      this.#begin(who.lane);
      if (!who.isKnown) this.#count(who.lane, who.target ?? '');
    } else await this.#wait(who);
    try {
      return await work();
    } finally {
      this.#end(who.lane);
    }
  }

  #mayRun(lane: string): boolean {
    return (this.#inTurn.get(lane) ?? 0) < (this.#limits.perLane ?? Number.POSITIVE_INFINITY);
  }

  #begin(lane: string): void {
    this.#running += 1;
    this.#inTurn.set(lane, (this.#inTurn.get(lane) ?? 0) + 1);
  }

  #end(lane: string): void {
    this.#running -= 1;
    const left = (this.#inTurn.get(lane) ?? 1) - 1;
    if (left > 0) this.#inTurn.set(lane, left);
    else this.#inTurn.delete(lane);
    // It waits from now on, so lanes that wait already are before it.
    const waiters = this.#lanes.known.get(lane);
    if (waiters !== undefined) {
      this.#lanes.known.delete(lane);
      this.#lanes.known.set(lane, waiters);
    }
    this.#next();
  }

  #wait({ lane, isKnown, signal, target = '' }: TurnTaker): Promise<void> {
    const lanes = isKnown ? this.#lanes.known : this.#lanes.strangers;
    if (this.#waiting >= this.#limits.waiting) this.#makeRoom(this.#weight(lane, lanes.get(lane)));
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      const settle = () => {
        timer?.stop();
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
      const { waitMs } = this.#limits;
      if (waitMs !== undefined) timer = this.#clock.after(waitMs, () => waiter.refuse(this.#tooMany()));
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
        heaviest.refuse(this.#tooMany());
        return;
      }
    }
    throw this.#tooMany();
  }

  #weight(lane: string, waiters: readonly Waiter[] = []): number {
    return waiters.length + this.#recent.of(laneKey(lane));
  }

  #next(): void {
    if (this.#running >= this.#limits.atOnce) return;
    this.#given += 1;
    const strangersFirst = this.#given % strangersEvery === 0;
    const found = strangersFirst
      ? (this.#nextStranger() ?? this.#nextKnown())
      : (this.#nextKnown() ?? this.#nextStranger());
    if (found === undefined) return;
    this.#begin(found.lane);
    found.waiter.begin();
  }

  #nextKnown(): { lane: string; waiter: Waiter } | undefined {
    const { known } = this.#lanes;
    const lane = [...known.keys()].find((each) => this.#mayRun(each));
    const waiter = shift(known, lane);
    return lane === undefined || waiter === undefined ? undefined : { lane, waiter };
  }

  /**
   * From the lane with the fewest recent turns, then for the account with the fewest; the newest and the oldest of
   * those alternate, so that a burst of new networks delays neither the attempt before it nor the one after it.
   */
  #nextStranger(): { lane: string; waiter: Waiter } | undefined {
    const { strangers } = this.#lanes;
    let [fewest, lanes]: [number, string[]] = [Number.POSITIVE_INFINITY, []];
    for (const [lane, [waiter]] of strangers) {
      if (!this.#mayRun(lane)) continue;
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
    return { lane, waiter };
  }

  #tooMany(): ApiError {
    const { busy = 'Too many at once. Try again in a moment.' } = this.#limits;
    return new ApiError('rate_limited', busy, { retryAfter: 5 });
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
