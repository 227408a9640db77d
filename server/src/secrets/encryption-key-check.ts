import type { Logger } from 'pino';
import { type Config, ConfigError } from '../config/config.ts';
import type { Database } from '../db/pool.ts';
import { adminCommand } from '../platform/command-line.ts';
import { opensCanary } from './canary.ts';
import { createKeyRing } from './key-ring.ts';

const wrongKey =
  "SETTINGS_ENCRYPTION_KEY is not the key of this installation: its database was encrypted with another one. Set the installation's key; " +
  'while you change keys, also give the old one as SETTINGS_ENCRYPTION_KEY_PREVIOUS. If it is lost, run ' +
  `"${adminCommand} adopt-key" ` +
  'with the new key and enter the credentials again.';

/**
 * Throws ConfigError if this is not the installation's key. With the embedded database it only warns, since people can
 * enter their credentials again.
 */
export async function assertEncryptionKey(config: Config, db: Database, log: Logger): Promise<void> {
  const secrets = createKeyRing({ current: config.encryptionKey, previous: [...config.previousEncryptionKeys] });
  if (await opensCanary({ db, secrets })) return;
  if (config.databaseUrl !== undefined) throw new ConfigError([wrongKey]);
  log.warn(wrongKey);
}
