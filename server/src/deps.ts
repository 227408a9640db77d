import type { FindActor } from './accounts/actor.ts';
import type { SessionWatch } from './accounts/session-watch.ts';
import type { BlobStore } from './artifacts/blob-store.ts';
import type { Pictures } from './artifacts/pictures/pictures.ts';
import type { PageBackups } from './backups/page-backups.ts';
import type { RunningResponses } from './chat/run/running-responses.ts';
import type { Documents } from './documents/documents.ts';
import type { ConnectionDrain } from './http/connection-drain.ts';
import type { Imports } from './imports/imports.ts';
import type { McpConnections } from './mcp/connection/connections.ts';
import type { Platform } from './platform.ts';
import type { Workspaces } from './workspaces/workspaces.ts';

/** The platform and the dependencies that features provide; built once in service.ts. */
export type Deps = Platform & {
  artifactStore: BlobStore;
  documents: Documents;
  pictures: Pictures;
  imports: Pick<Imports, 'look'>;
  findActor: FindActor;
  sessions: SessionWatch;
  /** Watches the token hashes of programs in workspaces instead of session ids. */
  programs: SessionWatch;
  responses: RunningResponses;
  mcp: McpConnections;
  door: Pick<ConnectionDrain, 'isDraining'>;
  workspaces: Workspaces;
  backups: Pick<PageBackups, 'begin'>;
  /** Called when an account was disabled: ends everything it has in progress. Other replicas notice by themselves. */
  accountDisabled(userId: string): Promise<void>;
};
