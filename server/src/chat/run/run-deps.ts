import type { BlobStore } from '../../artifacts/blob-store.ts';
import type { Pictures } from '../../artifacts/pictures/pictures.ts';
import type { Documents } from '../../documents/documents.ts';
import type { Platform } from '../../platform.ts';
import type { FindTools } from '../tools/find-tools.ts';
import type { RunningResponses } from './running-responses.ts';

/** Services that making an answer needs. */
export type RunDeps = Pick<
  Platform,
  'config' | 'db' | 'secrets' | 'egress' | 'clock' | 'log' | 'metrics' | 'tracing'
> & { artifactStore: BlobStore; documents: Documents; pictures: Pictures } & {
  responses: RunningResponses;
  findTools: FindTools;
};
