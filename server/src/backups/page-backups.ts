import { join } from 'node:path';
import type { Backup } from '@homeport/contracts/operations';
import type { BlobStore } from '../artifacts/blob-store.ts';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
import { systemClock } from '../platform/clock.ts';
import { waitAtMost } from '../platform/waits.ts';
import type { Platform } from '../platform.ts';
import { makeBackup } from './backup.ts';
import { type BackupHold, BackupNotDue, beginBackup, listBackups } from './backup-rows.ts';

/** Backups that administrators begin in the browser: made by the replica that was asked, one at a time. */

type Needs = Pick<Platform, 'config' | 'db' | 'log'> & { artifactStore: BlobStore };

const stopMs = 2_000;

/** Default destination of backups. */
export function usualPlace({ backupTo, dataDir }: Pick<Config, 'backupTo' | 'dataDir'>): string {
  const to = backupTo ?? join(dataDir, 'backups');
  return to.endsWith('/') ? to : `${to}/`;
}

export class PageBackups {
  readonly #needs: Needs;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Begins one unless one is running; resolves with the one that runs then. */
  async begin(withWorkspaces: boolean, by: AuditSource): Promise<Backup> {
    const { config, db } = this.#needs;
    const to = usualPlace(config);
    const hold = await beginBackup(db, 'page', to).catch((error: unknown) => {
      if (error instanceof BackupNotDue) return undefined;
      throw error;
    });
    if (hold !== undefined) this.#running = this.#make(to, hold, withWorkspaces, by);
    const rows = await listBackups(db);
    const shown = rows.find(({ id, state }) => (hold === undefined ? state === 'running' : id === hold.id)) ?? rows[0];
    if (shown === undefined) throw new Error('the row of a backup is missing');
    return shown;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the service was stopped'));
    await waitAtMost(systemClock, stopMs, this.#running);
  }

  async #make(to: string, hold: BackupHold, withWorkspaces: boolean, by: AuditSource): Promise<void> {
    const { config, db, log } = this.#needs;
    const { signal } = this.#stopping;
    try {
      const passphrase = config.backupPassphrase;
      const made = await makeBackup(this.#needs, { to, cause: 'page', hold, withWorkspaces, passphrase, signal });
      const details = { place: made.to, bytes: made.bytes, encrypted: made.encrypted };
      await recordEvent(db.kysely, by, { action: 'backup.created', details });
    } catch (error) {
      log.error({ cause: error }, 'the backup failed');
    }
  }
}
