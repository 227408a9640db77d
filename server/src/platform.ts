import type { Logger } from 'pino';
import type { Config } from './config/config.ts';
import type { Database } from './db/pool.ts';
import type { Egress } from './egress/egress.ts';
import type { Clock } from './platform/clock.ts';
import type { Disk } from './platform/disk-space.ts';
import type { Metrics } from './platform/metrics.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { KeyRing } from './secrets/key-ring.ts';
import type { Tracing } from './tracing/tracing.ts';

/**
 * Dependencies that every feature can use and none provides; built once in service.ts. Features pick the members they
 * need.
 */
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
