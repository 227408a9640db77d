import type { Logger } from 'pino';
import type { FindActor } from './accounts/actor.ts';
import type { Auth } from './accounts/auth.ts';
import type { BlobStore } from './artifacts/blob-store.ts';
import type { RunningResponses } from './chat/running-responses.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './db/pool.ts';
import type { Egress } from './egress/egress.ts';
import type { McpConnections } from './mcp/connections.ts';
import type { Metrics } from './metrics.ts';
import type { KeyRing } from './secrets/key-ring.ts';
import type { Workspaces } from './workspaces/workspaces.ts';

/** What every verb may use; built once in main.ts. Features take the members they need. */
export type Deps = {
  config: Config;
  db: Database;
  secrets: KeyRing;
  egress: Egress;
  artifactStore: BlobStore;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  auth: Auth;
  findActor: FindActor;
  responses: RunningResponses;
  mcp: McpConnections;
  workspaces: Workspaces;
  /** Called when an account was disabled: ends what it has under way. Other replicas find out by themselves. */
  accountDisabled(userId: string): Promise<void>;
};
