import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { BlobStore } from '../artifacts/blob-store.ts';
import type { Config } from '../config/config.ts';
import { mistypedSettings } from '../config/config.ts';
import type { Database } from '../db/pool.ts';
import { fitsCanary } from '../secrets/canary.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { tryRuntime } from '../workspaces/lifecycle/try-runtime.ts';
import { checkAddress } from './doctor-address.ts';
import { checkBackups } from './doctor-backups.ts';
import { checkDatabase, findUnreachable } from './doctor-database.ts';
import type { Finding } from './finding.ts';

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
    checkAddress(config),
  ]);
  return findings.flat();
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
    return { check, state: 'failed', message: `This could not be checked: ${reason}`, advice: adviceOn(check) };
  });
}

function adviceOn(check: string): string {
  if (check === 'workspaces') return 'Look for the reason in the log.';
  if (check === 'files') return 'Check ARTIFACT_STORE, and that its folder or bucket can be written to.';
  return check === 'disk' || check === 'permissions' ? 'Check DATA_DIR.' : 'Check DATABASE_URL and the database.';
}

async function checkSettings(): Promise<Finding> {
  const mistyped = mistypedSettings();
  if (mistyped.length === 0) return { check: 'settings', state: 'ok', message: 'All settings are valid.' };
  const names = mistyped.map(({ setting, meant }) => `${setting} (${meant}?)`).join(', ');
  const advice = 'Correct the names, or remove the variables.';
  return { check: 'settings', state: 'warning', message: `Unknown settings that resemble ours: ${names}.`, advice };
}

async function checkKey(config: Config, db: Database): Promise<Finding> {
  const secrets = createKeyRing({ current: config.encryptionKey, previous: [...config.previousEncryptionKeys] });
  if (await fitsCanary({ db, secrets })) {
    return { check: 'key', state: 'ok', message: 'SETTINGS_ENCRYPTION_KEY is the key of this installation.' };
  }
  const message = 'SETTINGS_ENCRYPTION_KEY is not the key that this database was encrypted with.';
  return { check: 'key', state: 'failed', message, advice: 'Set the right key; if it is lost, run adopt-key.' };
}

async function checkDisk({ dataDir, databaseUrl }: Config): Promise<Finding> {
  const { type, bavail, bsize, blocks } = await statfs(dataDir);
  const network = networkDisks.get(type);
  if (network !== undefined && databaseUrl === undefined) {
    const message = `DATA_DIR is on a network file system (${network}), where the embedded database can lose data.`;
    return { check: 'disk', state: 'failed', message, advice: 'Move DATA_DIR to a local disk, or use DATABASE_URL.' };
  }
  const [free, total] = [bavail * bsize, blocks * bsize];
  const reserve = Math.min(Math.max(total / 50, 96 * mebibyte), 1024 * mebibyte);
  const message = `${Math.round(free / mebibyte)} MiB are free on the disk of DATA_DIR.`;
  if (free > 2 * reserve) return { check: 'disk', state: 'ok', message };
  const advice = 'Free some space, or enlarge the disk: see docs/operations.md, "A full disk".';
  return { check: 'disk', state: free > reserve ? 'warning' : 'failed', message, advice };
}

async function checkPermissions({ dataDir }: Config): Promise<Finding> {
  const folder = await stat(dataDir);
  const secrets = await stat(join(dataDir, 'secrets.json')).catch(() => undefined);
  // The database may run as another user, who has to pass through the folder.
  if ((folder.mode & 0o066) === 0 && ((secrets?.mode ?? 0) & 0o077) === 0) {
    return { check: 'permissions', state: 'ok', message: 'Only its owner can read DATA_DIR.' };
  }
  const message = 'Other users of this machine can read DATA_DIR or its secrets.json.';
  return {
    check: 'permissions',
    state: 'warning',
    message,
    advice: `Run chmod go-rw ${dataDir} and chmod 600 on the file.`,
  };
}

async function checkStore(db: Database, store: BlobStore): Promise<Finding> {
  await store.prepare();
  const { rows } = await db.pool.query('select id, store_marked from installation');
  const mark = await store.readMark();
  if (mark !== rows[0]?.id && (mark !== undefined || rows[0]?.store_marked === true)) {
    const message = 'ARTIFACT_STORE is not the store of this installation.';
    return {
      check: 'files',
      state: 'failed',
      message,
      advice: 'Set the right folder or bucket: see docs/operations.md.',
    };
  }
  const stored = await store.put(Readable.from([Buffer.from('a test of the file store')]));
  await store.read(stored.key, { start: 0, end: stored.size - 1 }, async () => undefined);
  await store.remove([stored.key]);
  return { check: 'files', state: 'ok', message: 'Files can be written, read and removed.' };
}

async function checkWorkspaces(config: Config): Promise<Finding> {
  const trial = await tryRuntime(config);
  if (trial.state === 'off') return { check: 'workspaces', state: 'ok', message: 'Workspaces are switched off.' };
  if (trial.state === 'works') return { check: 'workspaces', state: 'ok', message: trial.said };
  return {
    check: 'workspaces',
    state: trial.wanted ? 'failed' : 'warning',
    message: `Workspaces do not work here: ${trial.why}`,
    advice: 'See docs/workspaces.md for what they need, or set WORKSPACE_MODE=disabled.',
  };
}

async function checkClock(db: Database): Promise<Finding> {
  const before = Date.now();
  const { rows } = await db.pool.query<{ now: Date }>('select clock_timestamp() as now');
  const [at, after] = [rows[0]?.now.getTime() ?? 0, Date.now()];
  const apart = Math.max(before - at, at - after, 0);
  if (apart < 5_000)
    return { check: 'clock', state: 'ok', message: 'The clocks of this machine and the database agree.' };
  const message = `The clocks of this machine and the database are ${Math.round(apart / 1_000)} seconds apart.`;
  return { check: 'clock', state: 'failed', message, advice: 'Synchronize both machines with a time server.' };
}
