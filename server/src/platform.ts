import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './db/pool.ts';
import type { Disk } from './disk.ts';
import type { Egress } from './egress/egress.ts';
import type { Metrics } from './metrics.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { KeyRing } from './secrets/key-ring.ts';
import type { Tracing } from './tracing.ts';

/** What every feature may use and none provides; built once in service.ts. Features pick the members they need. */
export type Platform = {
  config: Config;
  db: Database;
  secrets: KeyRing;
  sandbox: Sandbox;
  egress: Egress;
  disk: Disk;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  tracing: Tracing;
};
