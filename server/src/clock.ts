import { setTimeout as wait } from 'node:timers/promises';

/** The one clock; tests move their own. Times in milliseconds. */
export type Clock = {
  now(): number;
  /** Rejects with the signal's reason when aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (milliseconds, signal) => {
    try {
      await wait(milliseconds, undefined, { signal });
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  },
};

/** Resolves when `work` has resolved, or after that many milliseconds; rejects like `work`. No timer is left behind. */
export async function waitAtMost(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<void> {
  const waited = new AbortController();
  const patience = clock.sleep(milliseconds, waited.signal).catch(() => undefined);
  try {
    await Promise.race([work, patience]);
  } finally {
    waited.abort();
  }
}
