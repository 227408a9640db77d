import type { Deps } from '../deps.ts';
import { sweepBlobs } from './blobs.ts';

const everyMs = 3_600_000;
/** Nothing is written to an upload for this long and yet goes on. */
const ageMs = 3_600_000;

/** Sweeps at the start and every hour. Several replicas may do so at once. `stop` waits for nothing. */
export function startSweeper(deps: Pick<Deps, 'db' | 'artifactStore' | 'log'>): { stop(): void } {
  let isSweeping = false;
  const sweep = async (): Promise<void> => {
    if (isSweeping) return;
    isSweeping = true;
    try {
      const removed = await sweepBlobs(deps, ageMs);
      if (removed > 0) deps.log.info({ removed }, 'contents without artifacts swept');
    } catch (error) {
      deps.log.warn({ cause: error }, 'the sweep of artifact contents failed; the next one tries again');
    } finally {
      isSweeping = false;
    }
  };
  const timer = setInterval(() => void sweep(), everyMs).unref();
  void sweep();
  return { stop: () => clearInterval(timer) };
}
