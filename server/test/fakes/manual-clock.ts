import { type Clock, oneAtATime, systemClock, type Timer } from '../../src/platform/clock.ts';

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

  /** The number of sleeps that wait for a later time. */
  get waiting(): number {
    return this.#alarms.size;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const timer = this.#set(milliseconds, (alarm) => {
        this.#alarms.delete(alarm);
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
      alarm.at = this.#now + milliseconds;
      once();
    });
  }

  /** Due timers fire once, in the order of time, as on a machine that was asleep. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
    const due = [...this.#alarms].filter(({ at }) => at <= this.#now).sort((one, other) => one.at - other.at);
    for (const alarm of due) if (this.#alarms.has(alarm)) alarm.ring();
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

/** Dates and sleeps are moved by hand; timers run as usual. */
export function manualDate(): ManualClock {
  const { elapsed, after, every } = systemClock;
  return Object.assign(new ManualClock(), { elapsed, after, every });
}
