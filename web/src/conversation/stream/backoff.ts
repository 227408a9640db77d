/**
 * Milliseconds before attempt number `attempt` (0 for the first): doubling from 0.4 s to 15 s, with half of it random.
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(15_000, 400 * 2 ** attempt);
  return full / 2 + (full / 2) * random();
}

/** Waits; an abort ends the wait with the signal's reason, an `online` event of one of `hurry` ends it early. */
export function wait(milliseconds: number, signal: AbortSignal, ...hurry: (EventTarget | undefined)[]): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const end = (settle: () => void) => () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      for (const source of hurry) source?.removeEventListener('online', onDone);
      settle();
    };
    const onDone = end(resolve);
    const onAbort = end(() => reject(signal.reason));
    const timer = setTimeout(onDone, milliseconds);
    signal.addEventListener('abort', onAbort);
    for (const source of hurry) source?.addEventListener('online', onDone);
  });
}
