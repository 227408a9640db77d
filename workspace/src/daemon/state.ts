import type { Activity } from './activity.ts';
import type { Config } from './config.ts';

/** Shared state of the daemon. */
export type Daemon = {
  config: Config;
  activity: Activity;
  log: (message: string, error?: unknown) => void;
};
