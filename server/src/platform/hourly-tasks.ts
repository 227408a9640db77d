import { systemClock } from './clock.ts';
import { waitAtMost } from './waits.ts';

const everyMs = 3_600_000;

/** How long a stop waits for running work; unfinished work is done the next time. */
const stopMs = 1_000;

/**
 * Does work at the start and every hour, one time after the other. `work` handles its failures, and ends soon after the
 * signal.
 */
export function hourly(work: (signal: AbortSignal) => Promise<void>): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let working = work(stopping.signal);
  const timer = systemClock.every(everyMs, () => {
    working = working.then(() => work(stopping.signal));
    return working;
  });
  return {
    async stop() {
      timer.stop();
      stopping.abort();
      await waitAtMost(systemClock, stopMs, working);
    },
  };
}
