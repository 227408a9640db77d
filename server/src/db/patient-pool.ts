import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { type Clock, systemClock, type Timer } from '../clock.ts';

/** While fewer connections are busy, nobody waits for one. */
const busyAtOnce = 3;
/** A caller waits so long behind those before another is used: 10 to 20 ms. */
const patienceMs = 10;
/** Another is opened once none has come back for this long: slow statements hold them all. */
const stalledMs = 50;
/** Or once somebody has waited this long although some do come back: there may be more to do than these can serve. */
const starvedMs = 100;
/** And the next one this much later: where the processor is full, more connections do not help. */
const starvedPauseMs = 1_000;
/**
 * One is opened after the other, with a pause, in which the new one learns the statements; the pause doubles with each
 * that was opened since one came back. It may be the disk that all wait for, and then no number of them is enough.
 */
const openingPauseMs = 50;
/** After this the caller stops waiting for others, and the pool's own limits apply. */
const longestMs = 1_000;

type Done = (error: Error | undefined, client: PoolClient | undefined, release: (error?: unknown) => void) => void;
type Waiting = { since: number; connect: () => void };

/**
 * A pool that would rather wait a moment than use another connection. Each one is a process of the database that reads
 * the tables' descriptions and plans every statement for itself: where twenty share the work of three, that is half of
 * what they do, and a short burst of load that opens them lasts longer for it. As long as connections come back, a queue
 * is served sooner by few; behind slow statements a caller waits for a second at most.
 */
export class PatientPool extends Pool {
  readonly #clock: Clock;
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();
  #timer: Timer | undefined;
  #isOpening = false;
  #openedAt = Number.NEGATIVE_INFINITY;
  #returnedAt = Number.NEGATIVE_INFINITY;
  /** Called with each error of connecting. */
  onFailure: (error: Error) => void = () => undefined;
  /** Beyond the first three, since one came back. */
  #openedSince = 0;

  constructor(config: PoolConfig & { Client: new () => object }, clock: Clock = systemClock) {
    super(config);
    this.#clock = clock;
    this.on('release', () => this.#returned());
    this.on('remove', () => this.#returned());
  }

  override connect(): Promise<PoolClient>;
  override connect(done: Done): void;
  override connect(done?: Done): Promise<PoolClient> | undefined {
    if (done !== undefined) {
      this.#whenFree(done);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#whenFree((error, client) => {
        if (client === undefined) reject(error);
        else resolve(client);
      });
    });
  }

  #whenFree(done: Done): void {
    const waiting = { since: this.#clock.elapsed(), connect: () => this.#connect(done) };
    if (this.#waiting.size === 0 && this.#mayConnect(waiting)) {
      waiting.connect();
      return;
    }
    this.#waiting.add(waiting);
    this.#serveSoon();
  }

  #mayConnect({ since }: Waiting): boolean {
    const busy = this.totalCount - this.idleCount + this.waitingCount;
    if (busy < busyAtOnce) return true;
    const now = this.#clock.elapsed();
    if (now - since < patienceMs) return false;
    if (this.idleCount > this.waitingCount || now - since >= longestMs) return true;
    if (this.#isOpening) return false;
    const pause = now - this.#openedAt;
    if (now - this.#returnedAt >= stalledMs) return pause >= openingPauseMs * 2 ** this.#openedSince;
    return now - since >= starvedMs && pause >= starvedPauseMs;
  }

  #connect(done: Done): void {
    if (this.idleCount > this.waitingCount) {
      super.connect(done);
      return;
    }
    this.#isOpening = true;
    if (this.totalCount >= busyAtOnce) this.#openedSince++;
    super.connect((error, client, release) => {
      if (error !== undefined) this.onFailure(error);
      this.#isOpening = false;
      this.#openedAt = this.#clock.elapsed();
      this.#serveNext();
      done(error, client, release);
    });
  }

  #returned(): void {
    this.#returnedAt = this.#clock.elapsed();
    this.#openedSince = 0;
    this.#serveNext();
  }

  /** A released connection is free only after its event; and a pool that has ended refuses at once, one within the other. */
  #serveNext(): void {
    process.nextTick(() => this.#serve());
  }

  /** As long as somebody waits. */
  #serveSoon(): void {
    // Where the process itself was late, what has arrived meanwhile is read first: it may free a connection.
    this.#timer ??= this.#clock.after(patienceMs, () => {
      setImmediate(() => {
        this.#timer = undefined;
        this.#serve();
      });
    });
  }

  #serve(): void {
    for (const waiting of this.#waiting) {
      if (!this.#mayConnect(waiting)) break;
      this.#waiting.delete(waiting);
      waiting.connect();
    }
    if (this.#waiting.size > 0) this.#serveSoon();
  }
}
