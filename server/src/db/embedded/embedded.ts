import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Client, ClientConfig } from 'pg';
import { systemClock } from '../../platform/clock.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import type { DatabaseLog } from '../pool.ts';
import { clusterUser, ensureCluster, ensurePrivateFolder } from './cluster.ts';
import { chooseRunAs, locatePrograms } from './programs.ts';
import { findServer, launchServer, type RunningServer, type ServerPlan, shutDownServer } from './server.ts';

/** The embedded PostgreSQL while it runs; `stop` shuts it down and never throws. */
export type EmbeddedDatabase = { connection: ClientConfig; stop(): Promise<void> };

const shortFolderPrefix = 'homeport-socket-';
const databaseName = 'homeport';
// sockaddr_un holds 104 bytes on macOS and 108 on Linux.
const longestSocketPath = 100;
const lockPatienceMs = 3_000;
const slowestRestartMs = 5_000;
// Any fixed number: the one process that supervises this cluster locks it in the `postgres` database.
const supervisorLock = 4_203_317;

/**
 * Starts the PostgreSQL from the packages in `dataDir` and keeps it running until `stop`; takes over a server that a
 * killed process left behind. Throws if another process supervises the folder. `signal` ends only the start; `meanwhile`
 * is called while PostgreSQL is starting; tests replace the rest.
 */
export async function startEmbedded(options: {
  dataDir: string;
  log: DatabaseLog;
  signal?: AbortSignal;
  packageRoot?: string;
  systemFolders?: readonly string[];
  unshare?: string;
  settings?: Record<string, string>;
  meanwhile?: () => void;
}): Promise<EmbeddedDatabase> {
  const { log } = options;
  const dataDir = resolve(options.dataDir);
  const clusterDir = join(dataDir, 'postgres');
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const programs = await locatePrograms(options.packageRoot, options.systemFolders);
  const runAs = await chooseRunAs({ programs, clusterDir, unshare: options.unshare ?? 'unshare' });
  // Another user must be able to pass through it to reach the cluster.
  makeFolder(dataDir, runAs.uid === undefined ? 0o700 : 0o711);
  await ensureCluster({ clusterDir, programs, runAs, log, signal });
  const plan: ServerPlan = {
    clusterDir,
    socketDir: await chooseSocketFolder(dataDir),
    programs,
    runAs,
    log,
    settings: options.settings,
    meanwhile: options.meanwhile,
    reported: new Set(),
  };
  const supervisor = new Supervisor(plan, stopping);
  try {
    await supervisor.attach(signal);
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
  return { connection: connectionTo(supervisor.socketDir), stop: () => supervisor.stop() };
}

/**
 * The embedded PostgreSQL for a tool beside the service: joins the one that runs in `dataDir` and leaves it alone, or
 * starts one that `stop` shuts down. Throws if no database was ever created there.
 */
export async function joinEmbedded(options: {
  dataDir: string;
  log: DatabaseLog;
  signal: AbortSignal;
}): Promise<EmbeddedDatabase> {
  const clusterDir = join(resolve(options.dataDir), 'postgres');
  if (!existsSync(join(clusterDir, 'PG_VERSION'))) {
    throw new Error(`There is no database in ${clusterDir}: check DATA_DIR, and start Homeport once`);
  }
  const running = await joinRunning(clusterDir, options.signal);
  if (running !== undefined) return running;
  return startEmbedded(options).catch(async (error: unknown) => {
    // The service may have started at the same moment.
    const late = await joinRunning(clusterDir, options.signal);
    if (late === undefined) throw error;
    return late;
  });
}

async function joinRunning(clusterDir: string, signal: AbortSignal): Promise<EmbeddedDatabase | undefined> {
  const server = await findServer({ clusterDir }, signal);
  if (server === undefined) return undefined;
  await server.client.end();
  return { connection: connectionTo(server.socketDir), stop: async () => undefined };
}

function connectionTo(socketDir: string): ClientConfig {
  return { host: socketDir, port: 5432, user: clusterUser, database: databaseName };
}

async function chooseSocketFolder(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'run');
  if (Buffer.byteLength(join(folder, '.s.PGSQL.5432.lock')) <= longestSocketPath) return folder;
  const base = Buffer.byteLength(tmpdir()) <= 60 ? tmpdir() : '/tmp';
  return mkdtemp(join(base, shortFolderPrefix));
}

/** Holds the cluster's lock on one permanent connection; when that connection ends, the server has died. */
class Supervisor {
  readonly #plan: ServerPlan;
  readonly #stopping: AbortController;
  #server: RunningServer | undefined;
  #recovery: Promise<void> = Promise.resolve();

  constructor(plan: ServerPlan, stopping: AbortController) {
    this.#plan = plan;
    this.#stopping = stopping;
  }

  /** The folder of the server's socket; it never changes, even when the server restarts. */
  get socketDir(): string {
    return this.#plan.socketDir;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#recovery;
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) {
      if (!(await shutDownServer(this.#plan.clusterDir, server.pid))) {
        this.#plan.log.error({ pid: server.pid }, 'the database did not stop');
      }
      await server.client.end().catch(() => undefined);
    }
    await removeShortFolder(this.#plan.socketDir);
  }

  /** Takes over or starts the server, and becomes its only supervisor. */
  async attach(signal: AbortSignal): Promise<void> {
    const startedAt = systemClock.elapsed();
    const found = await findServer(this.#plan, signal);
    if (found === undefined) await ensurePrivateFolder(this.#plan.socketDir, this.#plan.runAs);
    const server = found ?? (await launchServer(this.#plan, signal));
    try {
      await takeLock(server.client, this.#plan.clusterDir, signal);
    } catch (error) {
      await server.client.end().catch(() => undefined);
      throw error;
    }
    if (server.socketDir !== this.#plan.socketDir) {
      await removeShortFolder(this.#plan.socketDir);
      this.#plan.socketDir = server.socketDir;
    }
    this.#server = server;
    this.#plan.reported?.clear();
    server.client.once('end', () => this.#lost(server));
    await ensureDatabase(server.client);
    const milliseconds = Math.round(systemClock.elapsed() - startedAt);
    const message = found === undefined ? 'database started' : 'running database taken over';
    this.#plan.log.info({ pid: server.pid, milliseconds }, message);
  }

  #lost(server: RunningServer): void {
    if (this.#stopping.signal.aborted || this.#server !== server) return;
    this.#server = undefined;
    this.#plan.log.warn({}, 'the database ended unexpectedly; starting it again');
    this.#recovery = this.#recover();
  }

  async #recover(): Promise<void> {
    const { signal } = this.#stopping;
    const { log } = this.#plan;
    let reported: string | undefined;
    for (let waitMs = 100; !signal.aborted; waitMs = Math.min(waitMs * 2, slowestRestartMs)) {
      try {
        return await this.attach(signal);
      } catch (error) {
        if (signal.aborted) return;
        const reason = String(error);
        const say = reason === reported ? log.debug : log.error;
        say.call(log, { error: reason, retryInMs: waitMs }, 'the database could not be started; trying again');
        reported = reason;
        await systemClock.sleep(waitMs, signal).catch(() => undefined);
      }
    }
  }
}

async function takeLock(client: Client, clusterDir: string, signal: AbortSignal): Promise<void> {
  const giveUpAt = systemClock.elapsed() + lockPatienceMs;
  while (systemClock.elapsed() < giveUpAt) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [supervisorLock]);
    if (rows[0]?.locked === true) return;
    // The server may need a moment to notice that a killed lock holder is gone.
    await systemClock.sleep(50, signal);
  }
  const holder = await client.query(
    `select a.application_name from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.objid = $1 and l.granted limit 1`,
    [supervisorLock],
  );
  const pid = /(?<!\d)\d{1,10}$/.exec(String(holder.rows[0]?.application_name))?.[0] ?? 'unknown';
  throw new Error(
    `Another Homeport (process ${pid}) is using the database in ${clusterDir}. ` +
      'Stop it first, or give this one a DATA_DIR of its own.',
  );
}

async function ensureDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [databaseName]);
  if (rowCount === 0) await client.query(`create database ${databaseName}`);
}

/** Removes the folder outside DATA_DIR; the one inside stays for the next start. */
async function removeShortFolder(socketDir: string): Promise<void> {
  if (basename(socketDir).startsWith(shortFolderPrefix)) await rm(socketDir, { recursive: true, force: true });
}
