/** The only clock of the programs in a workspace. Times in milliseconds; its timers keep no process alive. */
export const clock = {
  now: (): number => Date.now(),
  /** Never goes back: for durations and deadlines. */
  elapsed: (): number => performance.now(),
  /** Calls `work` once, unless stopped before. */
  after(milliseconds: number, work: () => void): Timer {
    const timer = setTimeout(work, milliseconds).unref();
    return { stop: () => clearTimeout(timer) };
  },
  every(milliseconds: number, work: () => void): Timer {
    const timer = setInterval(work, milliseconds).unref();
    return { stop: () => clearInterval(timer) };
  },
};

export type Timer = { stop(): void };
