import type { Config } from '../config/config.ts';
import type { DatabaseLog } from '../db/pool.ts';
import { noTracing, type Tracing } from './tracing.ts';

/** Records if a collector is named, otherwise does nothing: its libraries are not even loaded. */
export async function createTracing(config: Config, log: DatabaseLog): Promise<Tracing> {
  if (config.tracesBase === undefined && config.tracesUrl === undefined) return noTracing;
  const { openTracing } = await import('./otlp.ts');
  return openTracing(config, log);
}
