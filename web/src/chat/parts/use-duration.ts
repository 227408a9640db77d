import { useEffect, useState } from 'react';

/** Start times of running items by name, kept across remounts of the page. */
const begun = new Map<string, { at: number; seconds?: number }>();
const kept = 300;

/**
 * Whole seconds that something has been running, or took, as far as this page has watched it; undefined otherwise and
 * below two seconds, where the number says nothing.
 */
export function useDuration(name: string, isRunning: boolean): number | undefined {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!isRunning) return;
    if (!begun.has(name)) begun.set(name, { at: Date.now() });
    const oldest = begun.keys().next().value;
    if (begun.size > kept && oldest !== undefined) begun.delete(oldest);
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => {
      clearInterval(timer);
      tick((count) => count + 1);
    };
  }, [name, isRunning]);
  const known = begun.get(name);
  if (!known) return undefined;
  const seconds = known.seconds ?? Math.round((Date.now() - known.at) / 1000);
  if (!isRunning && known.seconds === undefined) known.seconds = seconds;
  return seconds < 2 ? undefined : seconds;
}
