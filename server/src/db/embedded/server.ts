import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { systemClock } from '../../platform/clock.ts';
import { sealed } from '../../platform/inherited-descriptors.ts';
import { type Patience, until, waitAtMost } from '../../platform/waits.ts';
import type { DatabaseLog } from '../pool.ts';
import { clusterUser, isAlive } from './cluster.ts';
import { canRun, commandLine, type PostgresPrograms, type RunAs, rootHelp } from './programs.ts';

/** Everything needed to run one cluster. `settings` are added to the lean defaults and override them. */
export type ServerPlan = {
  clusterDir: string;
  socketDir: string;
  programs: PostgresPrograms;
  runAs: RunAs;
  log: DatabaseLog;
  settings?: Record<string, string>;
  /** PostgreSQL's errors that are in the log already; emptied once it answers. */
  reported?: Set<string>;
  /** Called once PostgreSQL has been started, before it answers: for what can be done at the same time. */
  meanwhile?: (() => void) | undefined;
};

const port = 5432;
const startTimeoutMs = 300_000;
const progressEveryMs = 3_000;

// Small enough for a household's machine: about 20 MB while idle, as measured. `log` leaves out statement errors, whose
// texts may contain what people wrote.
const leanSettings: Record<string, string> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  shared_buffers: '32MB',
  max_connections: '60',
  max_worker_processes: '2',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_logical_replication_workers: '0',
  autovacuum_max_workers: '1',
  io_method: 'sync',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '256MB',
  min_wal_size: '32MB',
  // A commit that does not wait for the disk is there after three of these.
  wal_writer_delay: '100ms',
  jit: 'off',
  huge_pages: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/**
 * A server that answers: its postmaster's process id, its socket's folder, and one open connection to its `postgres`
 * database.
 */
export type RunningServer = { pid: number; socketDir: string; client: Client };

type PidFile = { pid: number; socketDir: string };

/** Reads `postmaster.pid`; undefined if no server claims the cluster. */
export async function readPidFile(clusterDir: string): Promise<PidFile | undefined> {
  const text = await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  const socketDir = lines[4] ?? '';
  return Number.isInteger(pid) && pid > 0 ? { pid, socketDir } : undefined;
}

/**
 * Connects to the server that already runs on the cluster, waiting while it starts or stops; undefined if there is
 * none.
 */
export async function findServer(
  plan: Pick<ServerPlan, 'clusterDir'>,
  signal: AbortSignal,
): Promise<RunningServer | undefined> {
  const giveUpAt = systemClock.elapsed() + 20_000;
  while (true) {
    signal.throwIfAborted();
    const file = await readPidFile(plan.clusterDir);
    if (file === undefined) return undefined;
    if (!(await isPostgresOf(plan.clusterDir, file.pid))) {
      await removeForeignPidFile(plan.clusterDir, file.pid);
      return undefined;
    }
    const client = file.socketDir === '' ? undefined : await connect(file.socketDir);
    if (client !== undefined) return { ...file, client };
    if (systemClock.elapsed() > giveUpAt) {
      throw new Error(
        `PostgreSQL (process ${file.pid}) runs on ${plan.clusterDir} but does not answer on its socket. ` +
          `Stop it (kill -INT ${file.pid}) and start Homeport again.`,
      );
    }
    await systemClock.sleep(25, signal);
  }
}

/** Starts a server on the cluster and waits until it answers. If another process is faster, joins its server. */
export async function launchServer(plan: ServerPlan, signal: AbortSignal): Promise<RunningServer> {
  const { child, tail } = spawnServer(plan);
  plan.meanwhile?.();
  let exited: string | undefined;
  child.once('error', (error) => {
    exited = error.message;
  });
  // 'close' rather than 'exit': by then the last lines of its log have arrived.
  const closed = new Promise<void>((resolve) => {
    child.once('close', (code, killed) => {
      exited ??= `it ended with ${killed ?? `code ${code}`}`;
      resolve();
    });
  });
  const startedAt = systemClock.elapsed();
  let nextProgressAt = startedAt + progressEveryMs;
  while (exited === undefined) {
    const client = await connect(plan.socketDir);
    if (client !== undefined) return { ...(await pidFileOf(plan)), client };
    const now = systemClock.elapsed();
    if (signal.aborted || now - startedAt > startTimeoutMs) {
      child.kill('SIGINT');
      await waitAtMost(systemClock, 15_000, closed);
      signal.throwIfAborted();
      throw new Error(`PostgreSQL did not become ready within ${startTimeoutMs / 1000} s:\n${tail().join('\n')}`);
    }
    if (now > nextProgressAt) {
      nextProgressAt = now + progressEveryMs;
      plan.log.info({ seconds: Math.round((now - startedAt) / 1000) }, 'still waiting for the database to start');
    }
    await waitAtMost(systemClock, 10, closed);
  }
  const lines = tail();
  if (lines.some((line) => line.includes('postmaster.pid'))) {
    const other = await findServer(plan, signal);
    if (other !== undefined) return other;
  }
  const { runAs, programs } = plan;
  const isRefused =
    runAs.prefix.length > 0
      ? !(await canRun(runAs, programs.postgres))
      : runAs.uid !== undefined && lines.some((line) => line.includes('ermission'));
  const help = isRefused ? `\n${rootHelp}` : '';
  throw new Error(`PostgreSQL did not start (${exited}):\n${lines.join('\n')}${help}`);
}

async function pidFileOf(plan: ServerPlan): Promise<PidFile> {
  const file = await readPidFile(plan.clusterDir);
  if (file === undefined) throw new Error(`PostgreSQL answers, but ${plan.clusterDir}/postmaster.pid is missing`);
  return file;
}

/** Fast shutdown: disconnects sessions and flushes data. Returns false if it gave up waiting. */
export async function shutDownServer(clusterDir: string, pid: number): Promise<boolean> {
  for (const [signalName, patienceMs] of [
    ['SIGINT', 15_000],
    ['SIGQUIT', 5_000],
  ] as const) {
    if (!kill(pid, signalName)) return true;
    const hasEnded = async () => !isAlive(pid) || (await readPidFile(clusterDir))?.pid !== pid;
    if (!(await until(patience(patienceMs), hasEnded))) continue;
    // PostgreSQL removes the file last. If the process still exists after that, it is a zombie that no parent reaps.
    await until(patience(1_000), () => !isAlive(pid));
    return true;
  }
  return false;
}

function patience(patienceMs: number): Patience {
  return { clock: systemClock, patienceMs, firstMs: 10, longestMs: 10 };
}

// Fatal to one connection only; happens at every start and stop.
const routine =
  /^FATAL: +(the database system is (starting up|shutting down|not yet accepting)|terminating .* due to administrator command)/;

function spawnServer(plan: ServerPlan): { child: ChildProcess; tail: () => string[] } {
  const settings = { ...leanSettings, unix_socket_directories: plan.socketDir, port: String(port), ...plan.settings };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const line = commandLine(plan.runAs, plan.programs.postgres, ['-D', plan.clusterDir, ...args]);
  // Its own session, so that Ctrl-C in our terminal reaches us first.
  const { stdio, close } = sealed(['ignore', 'ignore', 'pipe']);
  const child: ChildProcess = spawn(line.command, line.args, { ...line.options, detached: true, stdio });
  close();
  // If we exit without stopping it, it keeps running and can be taken over.
  child.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
  const lines: string[] = [];
  if (child.stderr !== null)
    createInterface({ input: child.stderr }).on('line', (text) => {
      const output = text.slice(0, 2_000);
      // Our own attempts to connect while it starts need no log line.
      if (routine.test(output)) return;
      lines.push(output);
      if (lines.length > 20) lines.shift();
      const serious = /^(WARNING|ERROR|FATAL|PANIC):|^LOG: +out of file descriptors/.test(output);
      if (serious && isNew(output, plan.reported)) plan.log.warn({ output }, 'postgres');
      else plan.log.debug({ output }, 'postgres');
    });
  return { child, tail: () => lines };
}

const reportedMax = 100;

/** After a crash PostgreSQL repeats some errors for every connection and every attempt to start. */
function isNew(output: string, reported: Set<string> | undefined): boolean {
  if (reported === undefined) return true;
  if (reported.has(output)) return false;
  if (reported.size < reportedMax) reported.add(output);
  return true;
}

async function connect(socketDir: string): Promise<Client | undefined> {
  const client = new Client({
    host: socketDir,
    port,
    user: clusterUser,
    database: 'postgres',
    application_name: `homeport supervisor ${process.pid}`,
    connectionTimeoutMillis: 1_500,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}

/**
 * A postmaster's working folder is its cluster, which distinguishes it from another process that got the same id after
 * a restart.
 */
async function isPostgresOf(clusterDir: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return true;
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return folder === undefined || folder === (await realpath(clusterDir));
}

/**
 * PostgreSQL takes any living process with the recorded id for a rival and would never start again if a container's
 * restart gave that id to another process. If the process is gone, PostgreSQL handles the file itself and also checks
 * for surviving backends.
 */
async function removeForeignPidFile(clusterDir: string, pid: number): Promise<void> {
  if (process.platform !== 'linux' || !isAlive(pid)) return;
  const home = await realpath(clusterDir);
  for (const entry of await readdir('/proc')) {
    if (/^\d+$/.test(entry) && (await readlink(`/proc/${entry}/cwd`).catch(() => '')) === home) return;
  }
  await rm(join(clusterDir, 'postmaster.pid'), { force: true });
}

function kill(pid: number, signalName: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signalName);
    return true;
  } catch {
    return false;
  }
}
