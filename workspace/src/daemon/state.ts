import type { Activity } from './activity.ts';
import type { Config } from './config.ts';

/** What every part of the daemon works with. */
export type Daemon = {
  config: Config;
  activity: Activity;
  log: (message: string, error?: unknown) => void;
};
