import { setTimeout as wait } from 'node:timers/promises';

/** The only clock; tests use their own. Times in milliseconds. */
export type Clock = {
  /** Milliseconds since 1970; jumps when the machine's date is set. */
  now(): number;
  /** Never goes back: for durations and deadlines of this process. */
  elapsed(): number;
  /** Rejects with the signal's reason when aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `work` once, unless stopped before. */
  after(milliseconds: number, work: () => void): Timer;
  /** Calls `work` again and again, but never while it is still running. */
  every(milliseconds: number, work: () => void | Promise<void>): Timer;
};

/** Keeps no process alive. */
export type Timer = {
  stop(): void;
  /** Starts counting again; does nothing once stopped. */
  restart(): void;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    try {
      await wait(milliseconds, undefined, { signal });
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  },
  after: (milliseconds, work) => {
    const timer = setTimeout(work, milliseconds).unref();
    return { stop: () => clearTimeout(timer), restart: () => void timer.refresh() };
  },
  every: (milliseconds, work) => {
    const timer = setInterval(oneAtATime(work), milliseconds).unref();
    return { stop: () => clearInterval(timer), restart: () => void timer.refresh() };
  },
};

/** Skips a call while the previous one is still running. `work` handles its own failures. */
export function oneAtATime(work: () => void | Promise<void>): () => void {
  let isRunning = false;
  return () => {
    if (isRunning) return;
    const running = work();
    if (running === undefined) return;
    isRunning = true;
    void running.finally(() => {
      isRunning = false;
    });
  };
}
