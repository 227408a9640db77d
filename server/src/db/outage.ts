import { ApiError } from '@homeport/contracts/errors';
import { DatabaseError } from 'pg';
import { type Clock, systemClock, type Timer } from '../platform/clock.ts';
import { isDatabaseUnavailable } from './failures.ts';
import { databaseProblem } from './problems.ts';

type Say = (details: object, message: string) => void;
/** `probe` opens a connection of its own and rejects if the database does not answer. */
type Means = { log: { warn: Say; error: Say }; probe: () => Promise<void> };
type State = { kind: 'unknown' } | { kind: 'away'; since: number };

const probeEveryMs = 1_000;
/** While the database answers, failures of single statements are summed up this often. */
const summaryEveryMs = 60_000;
const deepestCause = 3;

/**
 * Logs one line when the database becomes unreachable and one when it is back. Lines of others that only repeat it are
 * left out meanwhile (`hides`). A lost connection or such a line starts probes; the first probe that fails begins the
 * outage, the first that succeeds ends it.
 */
export class Outage {
  readonly #clock: Clock;
  /** Socket errors look alike wherever they come from, so those of the database are marked. */
  readonly #ours = new WeakSet<object>();
  #means: Means | undefined;
  #state: State | undefined;
  #timer: Timer | undefined;
  #hidden = 0;
  #cause: unknown;
  #summaryAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Begins to observe; `stop` ends it. */
  watch(means: Means): void {
    this.#means = means;
  }

  stop(): void {
    this.#means = undefined;
    this.#state = undefined;
    this.#timer?.stop();
  }

  /** Remembers that this error came from a connection to the database. */
  mark(error: unknown): void {
    if (typeof error === 'object' && error !== null) this.#ours.add(error);
  }

  /** A connection was lost or could not be made. */
  suspect(error: unknown): void {
    if (this.#means === undefined || this.#state !== undefined) return;
    this.#cause = error;
    this.#state = { kind: 'unknown' };
    void this.#probe(this.#means);
  }

  /** True for a log line whose cause is that the database is away; it counts as evidence. */
  hides(details: unknown): boolean {
    if (this.#means === undefined || typeof details !== 'object' || details === null) return false;
    const cause: unknown = 'cause' in details ? details.cause : Reflect.get(details, 'err');
    if (!this.#isAway(cause)) return false;
    this.#hidden += 1;
    this.suspect(cause);
    return true;
  }

  #isAway(error: unknown, depth = 0): boolean {
    if (!(error instanceof Error) || depth > deepestCause) return false;
    if (error instanceof ApiError && error.code === 'database_unavailable') return true;
    if ((this.#ours.has(error) || isOfDriver(error)) && isDatabaseUnavailable(error)) return true;
    return this.#isAway(error.cause, depth + 1);
  }

  async #probe(means: Means): Promise<void> {
    const failure = await means.probe().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    // Stopped, or watching something else.
    if (this.#means !== means || this.#state === undefined) return;
    if (failure === undefined) return this.#ended(means.log, this.#state);
    if (this.#state.kind === 'unknown') {
      this.#state = { kind: 'away', since: this.#clock.elapsed() };
      const problem = databaseProblem(failure.error);
      const reason =
        problem === undefined ? { cause: failure.error } : { reason: problem.message, advice: problem.advice };
      means.log.error(reason, 'the database is unreachable: requests are answered with 503 until it is back');
    }
    this.#timer = this.#clock.after(probeEveryMs, () => void this.#probe(means));
  }

  #ended(log: Means['log'], state: State): void {
    this.#state = undefined;
    const now = this.#clock.elapsed();
    // Errors of connections that broke in an outage can surface after its end.
    if (state.kind === 'unknown' && now - this.#summaryAt < summaryEveryMs) return;
    this.#summaryAt = now;
    const linesLeftOut = this.#hidden;
    this.#hidden = 0;
    if (state.kind === 'away') {
      const seconds = Math.round((now - state.since) / 1_000);
      log.warn({ seconds, linesLeftOut }, 'the database is reachable again');
    } else {
      const error = messageOf(this.#cause);
      log.warn({ error, linesLeftOut }, 'connections to the database were lost or refused, and it answers again');
    }
  }
}

/** Errors that PostgreSQL itself reports, and those that only its driver makes. */
function isOfDriver(error: Error): boolean {
  return error instanceof DatabaseError || !('code' in error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 300) : 'unknown reason';
}
