import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { BlobStore } from '../artifacts/blob-store.ts';
import type { Config } from '../config/config.ts';
import { mistypedSettings } from '../config/config.ts';
import type { Database } from '../db/pool.ts';
import { fitsCanary } from '../secrets/canary.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { readOperation } from '../settings/operation.ts';
import { tryRuntime } from '../workspaces/lifecycle/try-runtime.ts';
import { checkAddress } from './doctor-address.ts';
import { checkBackups } from './doctor-backups.ts';
import { checkDatabase, findUnreachable } from './doctor-database.ts';
import { type Finding, finding } from './finding.ts';

/** Health check of an installation: the checks, the problems found, and how to fix them. */

/** `db` is the reason if the database could not be opened. */
type Needs = { config: Config; db: Database | Error; artifactStore: BlobStore };

const mebibyte = 1024 ** 2;
const networkDisks = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x00c36400, 'Ceph'],
]);

export async function examine({ config, db, artifactStore }: Needs): Promise<Finding[]> {
  const findings = await Promise.all([
    checkSettings(),
    examineStored(config, db, artifactStore),
    guarded('disk', () => checkDisk(config)),
    guarded('permissions', () => checkPermissions(config)),
    guarded('workspaces', () => checkWorkspaces(config)),
    guarded('address', () => examineAddress(config, db)),
  ]);
  return findings.flat();
}

/** The probe of uploads has the size that administrators set in the page, if the database can be read. */
async function examineAddress(config: Config, db: Database | Error): Promise<Finding[]> {
  if (db instanceof Error || (await findUnreachable(config, db)) !== undefined) return checkAddress(config);
  const { artifactMaxUploadBytes } = await readOperation({ config, db });
  return checkAddress({ ...config, artifactMaxUploadBytes });
}

/** One finding instead of five if the database cannot be used. */
async function examineStored(config: Config, db: Database | Error, artifactStore: BlobStore): Promise<Finding[]> {
  const unreachable = await findUnreachable(config, db);
  if (unreachable !== undefined || db instanceof Error) return unreachable === undefined ? [] : [unreachable];
  const findings = await Promise.all([
    guarded('database', () => checkDatabase(config, db)),
    guarded('key', () => checkKey(config, db)),
    guarded('files', () => checkStore(db, artifactStore)),
    guarded('backups', () => checkBackups(config, db)),
    guarded('clock', () => checkClock(db)),
  ]);
  return findings.flat();
}

async function guarded(check: string, work: () => Promise<Finding | Finding[]>): Promise<Finding | Finding[]> {
  return work().catch((error: unknown): Finding => {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    return finding(check, 'failed', ['unchecked', { reason }], `This could not be checked: ${reason}`, adviceOn(check));
  });
}

function adviceOn(check: string): string {
  if (check === 'workspaces') return 'Look for the reason in the log.';
  if (check === 'files') return 'Check ARTIFACT_STORE, and that its folder or bucket can be written to.';
  return check === 'disk' || check === 'permissions' ? 'Check DATA_DIR.' : 'Check DATABASE_URL and the database.';
}

async function checkSettings(): Promise<Finding> {
  const mistyped = mistypedSettings();
  if (mistyped.length === 0) return finding('settings', 'ok', 'settings_valid', 'All settings are valid.');
  const names = mistyped.map(({ setting, meant }) => `${setting} (${meant}?)`).join(', ');
  const message = `Unknown settings that resemble ours: ${names}.`;
  const advice = 'Correct the names, or remove the variables.';
  return finding('settings', 'warning', ['settings_mistyped', { names }], message, advice);
}

async function checkKey(config: Config, db: Database): Promise<Finding> {
  const secrets = createKeyRing({ current: config.encryptionKey, previous: [...config.previousEncryptionKeys] });
  if (await fitsCanary({ db, secrets })) {
    return finding('key', 'ok', 'key_fits', 'SETTINGS_ENCRYPTION_KEY is the key of this installation.');
  }
  const message = 'SETTINGS_ENCRYPTION_KEY is not the key that this database was encrypted with.';
  return finding('key', 'failed', 'key_wrong', message, 'Set the right key; if it is lost, run adopt-key.');
}

async function checkDisk({ dataDir, databaseUrl }: Config): Promise<Finding> {
  const { type, bavail, bsize, blocks } = await statfs(dataDir);
  const network = networkDisks.get(type);
  if (network !== undefined && databaseUrl === undefined) {
    const message = `DATA_DIR is on a network file system (${network}), where the embedded database can lose data.`;
    const advice = 'Move DATA_DIR to a local disk, or use DATABASE_URL.';
    return finding('disk', 'failed', ['disk_network', { kind: network }], message, advice);
  }
  const [free, total] = [bavail * bsize, blocks * bsize];
  const reserve = Math.min(Math.max(total / 50, 96 * mebibyte), 1024 * mebibyte);
  const message = `${sizeText(free)} free on the data disk.`;
  if (free > 2 * reserve) return finding('disk', 'ok', ['disk_free', { free }], message);
  const advice = 'Free some space, or enlarge the disk: see docs/operations.md, "A full disk".';
  return finding('disk', free > reserve ? 'warning' : 'failed', ['disk_low', { free }], message, advice);
}

/** Decimal units, as disks are sold. */
function sizeText(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${Math.round(bytes / 1e9)} GB`;
}

async function checkPermissions({ dataDir }: Config): Promise<Finding> {
  const folder = await stat(dataDir);
  const secrets = await stat(join(dataDir, 'secrets.json')).catch(() => undefined);
  // The database may run as another user, who has to pass through the folder.
  if ((folder.mode & 0o066) === 0 && ((secrets?.mode ?? 0) & 0o077) === 0) {
    return finding('permissions', 'ok', 'permissions_private', 'Only its owner can read DATA_DIR.');
  }
  const message = 'Other users of this machine can read DATA_DIR or its secrets.json.';
  const advice = `Run chmod go-rw ${dataDir} and chmod 600 on the file.`;
  return finding('permissions', 'warning', ['permissions_open', { folder: dataDir }], message, advice);
}

async function checkStore(db: Database, store: BlobStore): Promise<Finding> {
  await store.prepare();
  const { rows } = await db.pool.query('select id, store_marked from installation');
  const mark = await store.readMark();
  if (mark !== rows[0]?.id && (mark !== undefined || rows[0]?.store_marked === true)) {
    const message = 'ARTIFACT_STORE is not the store of this installation.';
    return finding(
      'files',
      'failed',
      'files_foreign',
      message,
      'Set the right folder or bucket: see docs/operations.md.',
    );
  }
  const stored = await store.put(Readable.from([Buffer.from('a test of the file store')]));
  await store.read(stored.key, { start: 0, end: stored.size - 1 }, async () => undefined);
  await store.remove([stored.key]);
  return finding('files', 'ok', 'files_work', 'Files can be written, read and removed.');
}

async function checkWorkspaces(config: Config): Promise<Finding> {
  const trial = await tryRuntime(config);
  if (trial.state === 'off') return finding('workspaces', 'ok', 'workspaces_off', 'Workspaces are switched off.');
  if (trial.state === 'works') return finding('workspaces', 'ok', 'workspaces_work', trial.said);
  const message = `Workspaces do not work here: ${trial.why}`;
  const advice = 'See docs/workspaces.md for what they need, or set WORKSPACE_MODE=disabled.';
  const state = trial.wanted ? 'failed' : 'warning';
  return finding('workspaces', state, ['workspaces_broken', { reason: trial.why }], message, advice);
}

async function checkClock(db: Database): Promise<Finding> {
  const before = Date.now();
  const { rows } = await db.pool.query<{ now: Date }>('select clock_timestamp() as now');
  const [at, after] = [rows[0]?.now.getTime() ?? 0, Date.now()];
  const apart = Math.max(before - at, at - after, 0);
  if (apart < 5_000)
    return finding('clock', 'ok', 'clocks_agree', 'The clocks of this machine and the database agree.');
  const seconds = Math.round(apart / 1_000);
  const message = `The clocks of this machine and the database are ${seconds} seconds apart.`;
  const advice = 'Synchronize both machines with a time server.';
  return finding('clock', 'failed', ['clocks_apart', { seconds }], message, advice);
}
