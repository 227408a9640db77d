import { spawn } from 'node:child_process';
import { accessSync, constants, statfsSync } from 'node:fs';
import { chmod, mkdir, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterUser, ensureCluster, ensurePrivateFolder } from '../src/db/embedded/cluster.ts';
import { chooseRunAs, locatePrograms } from '../src/db/embedded/programs.ts';
import { findServer, launchServer, type ServerPlan, shutDownServer } from '../src/db/embedded/server.ts';
import type { DatabaseLog } from '../src/db/pool.ts';

/** A throw-away PostgreSQL; `stop` is for the owner of its folder. */
export type TestServer = { url: string; stop(): Promise<void> };

/** For a PostgreSQL whose data is not needed after the run: nothing waits for the disk. */
export const throwAwaySettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  autovacuum: 'off',
  update_process_title: 'off',
};

const memoryFolder = '/dev/shm';
const roomNeeded = 4 * 1024 ** 3;

/**
 * The folder of such a PostgreSQL: in memory if there is plenty, as making and dropping a database, hundreds of files
 * each, takes a third of the processor time there.
 */
export function throwAwayFolder(): string {
  try {
    accessSync(memoryFolder, constants.W_OK);
    const { bavail, bsize } = statfsSync(memoryFolder);
    return bavail * bsize >= roomNeeded ? memoryFolder : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * Starts the embedded PostgreSQL in `folder`, or joins the one that runs there. Several processes can do so at the same
 * time.
 */
export async function startTestServer(options: {
  folder: string;
  log: DatabaseLog;
  stopWhenIdleForMinutes?: number;
}): Promise<TestServer> {
  const { folder, log } = options;
  const signal = AbortSignal.timeout(120_000);
  await ensureOwnFolder(folder);
  const clusterDir = join(folder, 'postgres');
  const programs = await locatePrograms();
  const runAs = await chooseRunAs({ programs, clusterDir, unshare: 'unshare' });
  if (runAs.uid !== undefined) await chmod(folder, 0o711);
  await ensureCluster({ clusterDir, programs, runAs, log, signal });
  const plan: ServerPlan = {
    clusterDir,
    socketDir: join(folder, 'run'),
    programs,
    runAs,
    log,
    settings: throwAwaySettings,
  };
  const found = await findServer(plan, signal);
  if (found === undefined) await ensurePrivateFolder(plan.socketDir, runAs);
  const server = found ?? (await launchServer(plan, signal));
  await server.client.end();
  if (options.stopWhenIdleForMinutes !== undefined) {
    await touch(join(folder, 'last-use'));
    if (found === undefined) stopWhenIdle(folder, server.pid, options.stopWhenIdleForMinutes);
  }
  const url = `postgres://${clusterUser}@localhost/postgres?host=${encodeURIComponent(server.socketDir)}`;
  return { url, stop: async () => void (await shutDownServer(clusterDir, server.pid)) };
}

async function ensureOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Another user of the machine could have planted a folder in a shared place.
  const { uid } = await stat(folder);
  if (uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user`);
}

async function touch(file: string): Promise<void> {
  await writeFile(file, '', { flag: 'a' });
  const now = new Date();
  await utimes(file, now, now);
}

function stopWhenIdle(folder: string, pid: number, minutes: number): void {
  const script = `while kill -0 ${pid} 2>/dev/null; do sleep 20
    if [ -z "$(find "$1" -maxdepth 0 -mmin -${minutes})" ]; then kill -INT ${pid}; fi; done`;
  spawn('sh', ['-c', script, 'stop-when-idle', join(folder, 'last-use')], { detached: true, stdio: 'ignore' }).unref();
}
