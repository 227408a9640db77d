import { clock } from '../clock.ts';
/** What keeps a workspace from being idle: requests other than health, and running processes. */
export type Activity = ReturnType<typeof trackActivity>;
export type ActivityKind = 'processes' | 'terminals' | 'transfers';

export function trackActivity() {
  const active: Record<ActivityKind, number> = { processes: 0, terminals: 0, transfers: 0 };
  let lastAt = clock.now();
  return {
    /** A request has just arrived. */
    touch(): void {
      lastAt = clock.now();
    },
    /** Counts one until the returned function is called; calling it again does nothing. */
    begin(kind: ActivityKind): () => void {
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
