import { execFile } from 'node:child_process';
import { access, chmod, chown, mkdir, mkdtemp, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DatabaseLog } from '../pool.ts';
import { commandLine, majorVersion, type PostgresPrograms, type RunAs, rootHelp } from './programs.ts';

const run = promisify(execFile);
const initdbTimeoutMs = 120_000;

/** The superuser of the embedded cluster; its socket is in a folder that only we can enter. */
export const clusterUser = 'homeport';

/**
 * Creates the cluster in `clusterDir` once. It is built beside its final place and moved there when complete, so that a
 * crash never leaves half a cluster; if several processes try at once, one wins.
 */
export async function ensureCluster(options: {
  clusterDir: string;
  programs: PostgresPrograms;
  runAs: RunAs;
  log: DatabaseLog;
  signal?: AbortSignal;
}): Promise<void> {
  const { clusterDir, log } = options;
  if (await isComplete(clusterDir, log)) return;
  await removeLeftovers(clusterDir);
  log.info({ folder: clusterDir }, 'creating the database (once)');
  const draft = await mkdtemp(`${clusterDir}.new-${process.pid}-`);
  try {
    await giveTo(options.runAs, draft);
    await initialise(draft, options);
    await rename(draft, clusterDir).catch(async (error: NodeJS.ErrnoException) => {
      // Another process was first.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    await syncFolder(join(clusterDir, '..'));
  } finally {
    // An aborted initdb may keep writing for a moment.
    await rm(draft, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

/** Gives one of our folders to the user that PostgreSQL runs as. */
export async function giveTo(as: RunAs, folder: string): Promise<void> {
  if (as.uid !== undefined && as.gid !== undefined) await chown(folder, as.uid, as.gid);
  await chmod(folder, 0o700);
}

async function isComplete(clusterDir: string, log: DatabaseLog): Promise<boolean> {
  const version = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8').catch(ignoreMissing);
  if (version === undefined) {
    await moveAside(clusterDir, log);
    return false;
  }
  if (version.trim() !== majorVersion) {
    throw new Error(
      `The database in ${clusterDir} was created by PostgreSQL ${version.trim()}, but this release includes ${majorVersion}. ` +
        'Start the release that created it, dump the data there and restore it here.',
    );
  }
  // A cluster without this file lost it later: starting afresh would hide the loss.
  await access(join(clusterDir, 'global', 'pg_control')).catch(() => {
    throw new Error(`The database in ${clusterDir} is damaged (global/pg_control is missing): restore a backup.`);
  });
  return true;
}

async function moveAside(clusterDir: string, log: DatabaseLog): Promise<void> {
  const error = await rmdir(clusterDir).then(
    () => undefined,
    (reason: NodeJS.ErrnoException) => reason,
  );
  if (error === undefined || error.code === 'ENOENT') return;
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  const aside = `${clusterDir}.incomplete-${Date.now()}`;
  await rename(clusterDir, aside);
  log.warn({ folder: aside }, 'moved an incomplete database aside');
}

async function removeLeftovers(clusterDir: string): Promise<void> {
  const parent = join(clusterDir, '..');
  const pattern = /\.new-(\d{1,10})-/;
  for (const name of await readdir(parent)) {
    const pid = pattern.exec(name)?.[1];
    const path = join(parent, name);
    if (pid === undefined || !path.startsWith(`${clusterDir}.new-`) || isAlive(Number(pid))) continue;
    await rm(path, { recursive: true, force: true });
  }
}

async function initialise(
  draft: string,
  options: { programs: PostgresPrograms; runAs: RunAs; signal?: AbortSignal },
): Promise<void> {
  // Unicode case rules for search, independent of the system's locales; the plain C locale for initdb's other
  // categories exists everywhere.
  const wanted = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const withUtf8 = [...wanted, '--lc-ctype=C.UTF-8'];
  await initdb(draft, withUtf8, options).catch(async (error: unknown) => {
    if (!String(error).includes('invalid locale name')) throw error;
    await initdb(draft, wanted, options);
  });
}

async function initdb(
  draft: string,
  localeArgs: string[],
  options: { programs: PostgresPrograms; runAs: RunAs; signal?: AbortSignal },
): Promise<void> {
  const args = ['-D', draft, '-U', clusterUser, '-A', 'trust', '-E', 'UTF8', '--no-instructions', ...localeArgs];
  const line = commandLine(options.runAs, options.programs.initdb, args);
  try {
    await run(line.command, line.args, { ...line.options, timeout: initdbTimeoutMs, signal: options.signal });
  } catch (error) {
    options.signal?.throwIfAborted();
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    const help = options.runAs.uid !== undefined && output.includes('Permission denied') ? `\n${rootHelp}` : '';
    throw new Error(`Creating the database in ${draft} failed: ${output}${help}`, { cause: error });
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** True if a process with this id exists, ours or not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Creates a private folder (mode 0700) for PostgreSQL's socket. */
export async function ensurePrivateFolder(folder: string, as: RunAs): Promise<void> {
  await mkdir(folder, { recursive: true });
  await giveTo(as, folder);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
