import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { parseS3Location } from '../config-table.ts';
import type { BlobStore } from './blob-store.ts';
import { createDirectoryStore } from './stores/directory.ts';
import { createS3Store } from './stores/s3.ts';

/** The store that the settings name; nothing is opened yet. */
export function openBlobStore(config: Config): BlobStore {
  const location = config.artifactStore === undefined ? undefined : parseS3Location(config.artifactStore);
  if (location === undefined) {
    return createDirectoryStore(resolve(config.artifactStore ?? join(config.dataDir, 'artifacts')));
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
