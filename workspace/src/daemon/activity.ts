import { clock } from '../clock.ts';
import { DaemonError } from './daemon-error.ts';

/** Counters of activity, which keeps a workspace from being idle: requests other than health, and running processes. */
export type Activity = ReturnType<typeof trackActivity>;
export type ActivityKind = 'processes' | 'terminals' | 'transfers';

export function trackActivity() {
  const active: Record<ActivityKind, number> = { processes: 0, terminals: 0, transfers: 0 };
  let lastAt = clock.now();
  let refusal: string | undefined;
  return {
    /** Refuses whatever would begin from now on, with this reason. */
    drain(reason: string): void {
      refusal = reason;
    },
    /** A request has just arrived. */
    touch(): void {
      lastAt = clock.now();
    },
    /**
     * Counts one until the returned function is called; calling it again does nothing. Throws `busy` while draining.
     */
    begin(kind: ActivityKind): () => void {
      if (refusal !== undefined) throw new DaemonError('busy', refusal);
      active[kind] += 1;
      lastAt = clock.now();
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        active[kind] -= 1;
        lastAt = clock.now();
      };
    },
    snapshot() {
      return { active: { ...active }, lastActivityAt: new Date(lastAt).toISOString() };
    },
  };
}
