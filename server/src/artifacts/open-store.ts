import { join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { parseS3Location } from '../config/setting-values.ts';
import type { Disk } from '../platform/disk-space.ts';
import type { BlobStore } from './blob-store.ts';
import { createDirectoryStore } from './stores/directory.ts';
import { createS3Store } from './stores/s3.ts';

const askEveryBytes = 1024 * 1024;

/**
 * The store that the settings name; nothing is opened yet. A folder accepts nothing more when the disk is nearly full.
 */
export function openBlobStore(config: Config, disk: Pick<Disk, 'assertRoom'>): BlobStore {
  const location = config.artifactStore === undefined ? undefined : parseS3Location(config.artifactStore);
  if (location === undefined) {
    const store = createDirectoryStore(resolve(config.artifactStore ?? join(config.dataDir, 'artifacts')));
    return { ...store, put: (bytes) => store.put(whileThereIsRoom(bytes, disk)) };
  }
  return createS3Store({
    ...location,
    region: config.awsRegion,
    endpoint: config.awsEndpoint,
    credentials: {
      accessKeyId: config.awsAccessKeyId ?? '',
      secretAccessKey: config.awsSecretAccessKey ?? '',
      ...(config.awsSessionToken === undefined ? {} : { sessionToken: config.awsSessionToken }),
    },
  });
}

/** Many large files at once must not use up the reserve either. */
async function* whileThereIsRoom(
  bytes: AsyncIterable<Uint8Array>,
  disk: Pick<Disk, 'assertRoom'>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let sinceAsked = askEveryBytes;
  for await (const chunk of bytes) {
    if (sinceAsked >= askEveryBytes) await disk.assertRoom('files');
    sinceAsked = sinceAsked >= askEveryBytes ? chunk.length : sinceAsked + chunk.length;
    yield chunk;
  }
}
