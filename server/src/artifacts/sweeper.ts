import { hourly } from '../platform/hourly-tasks.ts';
import type { Platform } from '../platform.ts';
import type { BlobStore } from './blob-store.ts';
import { sweepBlobs } from './blobs.ts';
import { checkStore } from './store-mark.ts';

type Needs = Pick<Platform, 'db' | 'log'> & { artifactStore: BlobStore };

/** A running upload always writes something within this time. */
const ageMs = 3_600_000;

/** Sweeps at the start and every hour; several replicas may do so at once. */
export function startSweeper(deps: Needs): { stop(): Promise<void> } {
  return hourly(async () => {
    try {
      const removed = await sweepStore(deps);
      if (removed > 0) deps.log.info({ removed }, 'removed contents that no artifact uses');
    } catch (error) {
      deps.log.warn({ cause: error }, 'failed to delete unused artifact contents; trying again later');
    }
  });
}

/** Sweeps the store if it belongs to this installation. Resolves with the number of blobs removed. */
export async function sweepStore(deps: Needs): Promise<number> {
  const state = await checkStore(deps);
  if (state === 'own') return sweepBlobs(deps, ageMs);
  deps.log.error(
    { state },
    'ARTIFACT_STORE is not the file store of this installation: unused files in it are not deleted',
  );
  return 0;
}
