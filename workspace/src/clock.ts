/** The one clock of the programs in a workspace. Times in milliseconds; its timers hold no process open. */
export const clock = {
  now: (): number => Date.now(),
  /** Only ever grows: for durations and deadlines. */
  elapsed: (): number => performance.now(),
  /** Calls `work` once, unless it is stopped before. */
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
