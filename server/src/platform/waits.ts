import type { Clock, Timer } from './clock.ts';

/** Resolves once the signal is aborted. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/**
 * Settles as the work does, or rejects with the signal's reason while the work continues. With `settle`, the work first
 * gets that long after the signal to finish.
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  settle?: { clock: Clock; milliseconds: number },
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  let timer: Timer | undefined;
  const leave = (): void => aborted.reject(signal.reason);
  const onAbort = (): void => {
    if (settle === undefined) leave();
    else timer = settle.clock.after(settle.milliseconds, leave);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    timer?.stop();
    signal.removeEventListener('abort', onAbort);
  }
}

export type TimeLimit = {
  clock: Clock;
  milliseconds: number;
  signal?: AbortSignal;
  /** The error if the time is over. */
  tooLate: () => Error;
};

/**
 * Runs work with its own signal, which aborts when the time is over or the caller's signal aborts. It rejects then,
 * whether or not the work reacts.
 */
export async function within<T>(
  { clock, milliseconds, signal, tooLate }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const ended = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    own.abort(reason);
    ended.reject(reason);
  };
  const onAbort = (): void => end(signal?.reason);
  const timer = clock.after(milliseconds, () => end(tooLate()));
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(own.signal), ended.promise]);
  } finally {
    timer.stop();
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Resolves when `work` has resolved, or after that many milliseconds; rejects like `work`. */
export async function waitAtMost(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<void> {
  const waited = new AbortController();
  const patience = clock.sleep(milliseconds, waited.signal).catch(() => undefined);
  try {
    await Promise.race([work, patience]);
  } finally {
    waited.abort();
  }
}

/** Milliseconds: how long to keep trying, and the pauses between checks, which grow from the first to the longest. */
export type Patience = { clock: Clock; patienceMs: number; firstMs: number; longestMs: number };

/** Checks again and again until it is true; false if it still is not when the time is up. */
export async function until(
  { clock, patienceMs, firstMs, longestMs }: Patience,
  isTrue: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const giveUpAt = clock.elapsed() + patienceMs;
  for (let pauseMs = firstMs; ; pauseMs = Math.min(pauseMs * 2, longestMs)) {
    if (await isTrue()) return true;
    if (clock.elapsed() > giveUpAt) return false;
    await clock.sleep(pauseMs);
  }
}
