import { type Clock, oneAtATime, type Timer } from '../../src/clock.ts';

type Alarm = { at: number; ring: () => void };

/** Time that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now = Date.now();
  readonly #alarms = new Set<Alarm>();

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#now;
  }

  /** How many wait for a time to come. */
  get waiting(): number {
    return this.#alarms.size;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const timer = this.after(milliseconds, () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      });
      const leave = (): void => {
        timer.stop();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  after(milliseconds: number, work: () => void): Timer {
    return this.#set(milliseconds, (alarm) => {
      this.#alarms.delete(alarm);
      work();
    });
  }

  every(milliseconds: number, work: () => void | Promise<void>): Timer {
    const once = oneAtATime(work);
    return this.#set(milliseconds, (alarm) => {
      alarm.at += milliseconds;
      once();
    });
  }

  /** Rings in the order of time; what is set meanwhile and due as well rings too. */
  advance(milliseconds: number): void {
    const until = this.#now + milliseconds;
    for (;;) {
      const due = [...this.#alarms].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
      if (due === undefined) break;
      this.#now = Math.max(this.#now, due.at);
      due.ring();
    }
    this.#now = until;
  }

  #set(milliseconds: number, ring: (alarm: Alarm) => void): Timer {
    const alarm: Alarm = { at: this.#now + milliseconds, ring: () => ring(alarm) };
    this.#alarms.add(alarm);
    return {
      stop: () => void this.#alarms.delete(alarm),
      restart: () => {
        if (this.#alarms.has(alarm)) alarm.at = this.#now + milliseconds;
      },
    };
  }
}
