import { ConfigError } from '../config/config.ts';
import { adminCommand } from '../platform/command-line.ts';
import type { Platform } from '../platform.ts';
import type { BlobStore } from './blob-store.ts';
import { checkStore } from './store-mark.ts';

const foreignStore =
  'ARTIFACT_STORE belongs to another installation of Homeport, according to its file "installation". Set the folder or bucket of this ' +
  `installation. To take over this store, run "${adminCommand} adopt-store".`;
const missingStore =
  'ARTIFACT_STORE is not the store of this installation: the file "installation" is missing in it. Set the right folder or bucket, or ' +
  `mount the folder. If the files are lost, run "${adminCommand} adopt-store".`;

/**
 * Throws ConfigError if the store belongs to another installation or, with DATABASE_URL, if this installation's files
 * are elsewhere. A store that cannot be reached is checked again before each sweep.
 */
export async function assertOwnStore(
  deps: Pick<Platform, 'config' | 'db' | 'log'> & { artifactStore: BlobStore },
): Promise<void> {
  const state = await checkStore(deps).catch((cause: unknown) => {
    deps.log.error({ cause }, 'the file store is unreachable; checking later whether it belongs to this installation');
    return undefined;
  });
  if (state === 'foreign') throw new ConfigError([foreignStore]);
  if (state !== 'missing') return;
  if (deps.config.databaseUrl !== undefined) throw new ConfigError([missingStore]);
  deps.log.error(missingStore);
}
