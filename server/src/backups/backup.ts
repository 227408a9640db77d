import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { BlobStore } from '../artifacts/blob-store.ts';
import type { Config } from '../config/config.ts';
import { settingTable } from '../config/settings-table.ts';
import type { Database } from '../db/pool.ts';
import { ArchiveWriter } from './archive-writer.ts';
import { type BackupCause, type BackupHold, type BackupProgress, beginBackup } from './backup-rows.ts';
import { beginSnapshot, dumpTable, type FileRow, filesOfSnapshot, readIdentities, type Snapshot } from './dump.ts';
import { encryptTo } from './envelope.ts';
import { writeHomes } from './homes.ts';
import { backupName, openTarget, type Target } from './places.ts';

/** One file with everything of this installation, of one instant, while it runs. */

type Needs = { config: Config; db: Database; artifactStore: Pick<BlobStore, 'read'> };
export type BackupRequest = {
  to: string;
  cause: BackupCause;
  /** Only if a scheduled backup is due since then; otherwise BackupNotDue. */
  dueSince?: Date;
  /** Its row, where that was made before. */
  hold?: BackupHold;
  withWorkspaces: boolean;
  passphrase?: string;
  signal: AbortSignal;
  onProgress?(progress: BackupProgress): void;
};
export type BackupResult = {
  to: string;
  createdAt: string;
  release: string;
  migration: string;
  encrypted: boolean;
  /** Of the file, as `sha256sum` says it for one that is not encrypted. */
  sha256: string;
  bytes: number;
  tables: Record<string, number>;
  files: { count: number; bytes: number };
  workspaces: { homes: number; files: number; skipped: number } | null;
};

export async function makeBackup(needs: Needs, request: BackupRequest): Promise<BackupResult> {
  const { config, db } = needs;
  const at = new Date();
  const hold = request.hold ?? (await beginBackup(db, request.cause, request.to, request.dueSince));
  let target: Target | undefined;
  try {
    target = await openTarget(config, request.to, backupName(at, request.passphrase !== undefined));
    const result = await writeBackup(needs, request, { target, hold, at });
    await target.commit();
    await hold.end({ place: target.place, size: result.bytes, sha256: result.sha256 });
    return result;
  } catch (error) {
    await target?.abort();
    const reason = error instanceof Error ? error.message : 'unknown reason';
    await hold.end({ error: reason }).catch(() => undefined);
    throw error;
  }
}

type Running = { target: Target; hold: BackupHold; at: Date };

async function writeBackup(needs: Needs, request: BackupRequest, { target, hold, at }: Running): Promise<BackupResult> {
  const { config, db } = needs;
  const { passphrase } = request;
  const signal = AbortSignal.any([request.signal, hold.signal]);
  const envelope = passphrase === undefined ? undefined : await encryptTo(passphrase, target.write);
  const writer = new ArchiveWriter(envelope?.write ?? target.write);
  const report = (change: Partial<BackupProgress>): void => {
    Object.assign(hold.progress, change, { bytes: writer.bytes });
    request.onProgress?.(hold.progress);
  };
  const client = await db.openClient('copying');
  const stop = (): void => void client.end().catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const snapshot = await beginSnapshot(client);
    const head = headOf(config, snapshot, at, request);
    await writer.add('homeport-backup.json', jsonBytes(head));
    const tables: Record<string, number> = {};
    for (const table of snapshot.tables) {
      const rows = await dumpTable(client, table, writer, signal);
      tables[table.name] = rows;
      report({ rows: hold.progress.rows + rows });
    }
    await writer.add('database/identities.json', jsonBytes({ identities: await readIdentities(client) }));
    if (passphrase !== undefined) await writer.add('secrets.json', jsonBytes(secretsOf(config)));
    report({ step: 'files' });
    const files = { count: 0, bytes: 0 };
    for await (const file of filesOfSnapshot(client)) {
      signal.throwIfAborted();
      await writeFile(needs, writer, file);
      files.count += 1;
      files.bytes += file.size;
      report({ files: files.count });
    }
    let workspaces: BackupResult['workspaces'] = null;
    if (request.withWorkspaces) {
      report({ step: 'workspaces' });
      workspaces = await writeHomes(config, writer, signal);
    }
    const sha256 = await writer.finish({ tables, files, workspaces });
    await envelope?.end();
    signal.throwIfAborted();
    return {
      to: target.place,
      createdAt: head.createdAt,
      release: head.release,
      migration: head.migrations.at(-1) ?? '',
      encrypted: passphrase !== undefined,
      sha256,
      bytes: writer.bytes,
      tables,
      files,
      workspaces,
    };
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', stop);
    await client.end().catch(() => undefined);
  }
}

/** The first member; format 1. */
function headOf(config: Config, snapshot: Snapshot, at: Date, request: BackupRequest) {
  return {
    format: 1,
    release: config.version,
    createdAt: at.toISOString(),
    installation: snapshot.installation,
    migrations: snapshot.migrations,
    postgres: snapshot.postgres,
    tables: snapshot.tables,
    files: snapshot.files,
    withWorkspaces: request.withWorkspaces,
    settings: settingsThatMatter(config),
  };
}

/** Settings that are neither secret nor default, to be compared after a restore. */
function settingsThatMatter(config: Config): Record<string, unknown> {
  const values = new Map<string, unknown>(Object.entries(config));
  const settings = Object.entries(settingTable).filter(([key, setting]) => {
    const value = values.get(key);
    return !setting.secret && value !== undefined && JSON.stringify(value) !== JSON.stringify(setting.fallback);
  });
  return Object.fromEntries(settings.map(([key, setting]) => [setting.name, values.get(key)]));
}

function secretsOf(config: Config): Record<string, unknown> {
  return {
    [settingTable.authSecret.name]: config.authSecret,
    [settingTable.encryptionKey.name]: config.encryptionKey,
    [settingTable.previousEncryptionKeys.name]: config.previousEncryptionKeys,
  };
}

async function writeFile(needs: Needs, writer: ArchiveWriter, file: FileRow): Promise<void> {
  const name = `files/${file.sha256}`;
  if (file.size === 0) return writer.add(name, Buffer.alloc(0));
  const pipe = new PassThrough({ highWaterMark: 1 });
  const take = async (bytes: Uint8Array): Promise<void> => {
    // The store uses its block again.
    if (!pipe.write(Buffer.from(bytes))) await once(pipe, 'drain');
  };
  // The reader of the pipe reports the error.
  pipe.on('error', () => undefined);
  const reading = needs.artifactStore.read(file.key, { start: 0, end: file.size - 1 }, take).then(
    () => void pipe.end(),
    (error: unknown) => void pipe.destroy(error instanceof Error ? error : new Error('a file cannot be read')),
  );
  const sha256 = await writer.stream({ name, size: file.size }, pipe).catch((error: unknown) => {
    pipe.destroy(new Error('the backup has ended'));
    throw error;
  });
  await reading;
  if (sha256 !== file.sha256) throw new Error(`the file ${file.sha256} has another content in ARTIFACT_STORE`);
}

function jsonBytes(content: object): Buffer {
  return Buffer.from(`${JSON.stringify(content)}\n`);
}
