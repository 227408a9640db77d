import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { assertOwnStore } from './artifacts/own-store.ts';
import { type Config, ConfigError, loadConfig, mistypedSettings, version } from './config/config.ts';
import { unusableDataDir } from './config/stored-secrets.ts';
import { startEmbedded } from './db/embedded/embedded.ts';
import { Outage } from './db/outage.ts';
import { type Database, type DatabaseConnection, lacksLimits, openDatabase } from './db/pool.ts';
import { databaseProblem } from './db/problems.ts';
import { DisplacedError, joinReplicas, type Replica } from './db/replicas.ts';
import type { Deps } from './deps.ts';
import { systemClock } from './platform/clock.ts';
import { answerTo } from './platform/command-line.ts';
import { watchDescriptors } from './platform/descriptors.ts';
import { explainFullDisk, makeRoomForDatabase } from './platform/disk-space.ts';
import { endProcess } from './platform/end-process.ts';
import { createLogger } from './platform/logger.ts';
import { makeFolder } from './platform/make-folder.ts';
import { installLastResort } from './platform/uncaught-errors.ts';
import { whenAborted } from './platform/waits.ts';
import { assertEncryptionKey } from './secrets/encryption-key-check.ts';
import { createTracing } from './tracing/open-tracing.ts';
import { noTracing, type Tracing } from './tracing/tracing.ts';

const unnamed =
  'the time limits of connections have no effect: if DATABASE_URL is a pooler such as PgBouncer, set DATABASE_DIRECT_URL (docs/operations.md)';
const unlimited =
  'the role behind the pooler needs statement_timeout, idle_in_transaction_session_timeout and jit = off (docs/operations.md)';
/** How long running responses may finish after SIGTERM (contract.md section 10). */
const drainMs = 25_000;
const shutdownMs = 35_000;
/** The embedded database accepts 60 connections, including those of the operator's commands. */
const embeddedPoolMax = 50;

async function main(config: Config): Promise<void> {
  prepareDataDir(config);
  const outage = new Outage();
  const log = createLogger(config.logLevel, undefined, (details) => outage.hides(details));
  for (const found of mistypedSettings())
    log.warn(found, 'unknown setting with a name like a known one: is it misspelled?');
  await watchDescriptors(log);
  installLastResort(log);
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => stopping.abort(new Error('stopped while starting')));
  }

  // The error is reported by the await that needs the service.
  const meanwhile = () => void loadService().catch(() => undefined);
  if (config.databaseUrl === undefined) await makeRoomForDatabase(config.dataDir, log);
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbedded({ dataDir: config.dataDir, log, signal: stopping.signal, meanwhile })
      : undefined;
  try {
    await serve(config, { log, outage }, stopping.signal, embedded?.connection);
  } finally {
    await embedded?.stop();
  }
  log.info('stopped');
}

/** Most of the code. Loading it takes about as long as the embedded database takes to start, and both happen at once. */
const loadService = () => import('./service.ts');

/** Serves until the signal; closes everything it opened, even if a later step of the start fails. */
async function serve(
  config: Config,
  { log, outage }: { log: Logger; outage: Outage },
  stopping: AbortSignal,
  embedded: DatabaseConnection | undefined,
): Promise<void> {
  const max = embedded === undefined ? config.databasePoolMax : Math.min(config.databasePoolMax, embeddedPoolMax);
  const alone = embedded !== undefined;
  const connection = embedded ?? config.databaseUrl ?? '';
  const tracing = await createTracing(config, log);
  const trace = tracing === noTracing ? {} : { trace: tracing.statement };
  const db = openDatabase({ connection, direct: config.databaseDirectUrl, max, alone, log, outage, ...trace });
  try {
    if (!alone && (await lacksLimits(db))) log.warn(config.databaseDirectUrl === undefined ? unnamed : unlimited);
    const replica = await joinReplicas({ db, log, signal: stopping });
    if (replica.applied.length > 0) log.info({ applied: replica.applied }, 'database migrated');
    try {
      await serveAs(replica, { config, db, log, tracing, stopping });
    } finally {
      await replica.leave();
    }
  } finally {
    await db.close();
    await tracing.close();
  }
}

type Serving = { config: Config; db: Database; log: Logger; tracing: Tracing; stopping: AbortSignal };

/** Serves until the signal, or until another release has taken the database over. */
async function serveAs(
  { isFirst, displaced }: Replica,
  { config, db, log, tracing, stopping }: Serving,
): Promise<void> {
  await assertEncryptionKey(config, db, log);
  const { createService } = await loadService();
  const clock = systemClock;
  const service = await createService({ config, db, log, clock, webFolder: webFolder(), tracing, isFirst });
  let drain = 0;
  try {
    service.deps.egress.installGlobally();
    if (await prepareStore(service.deps)) await assertOwnStore(service.deps);
    await listen(service.server, config);
    const address = publicAddress(service.server, config);
    log.info({ address, edition: config.edition }, 'Homeport is ready');
    if (process.argv.includes('--welcome')) welcome(address);
    await whenAborted(AbortSignal.any([stopping, displaced]));
    // Another release continues all work at once: this one must not write to the database any more.
    if (!displaced.aborted) {
      log.info('stopping: waiting for running responses to finish');
      drain = drainMs;
    }
  } finally {
    clock.after(shutdownMs + config.drainSeconds * 1_000, () => endProcess(1));
    await service.stop(drain, drain === 0 ? 0 : config.drainSeconds * 1_000);
  }
  displaced.throwIfAborted();
}

/** For the person who typed `npm start` or `homeport`. */
function welcome(address: string): void {
  process.stderr.write(`\nHomeport is ready: open ${address} in a browser. Ctrl-C stops it.\n\n`);
}

function prepareDataDir({ dataDir }: Config): void {
  try {
    makeFolder(dataDir, 0o700);
  } catch (error) {
    throw new ConfigError([unusableDataDir(dataDir, error)]);
  }
}

/**
 * False if a bucket cannot be reached, since it may become reachable later. A folder that is not writable stops the
 * start.
 */
async function prepareStore({ config, artifactStore, log }: Deps): Promise<boolean> {
  try {
    await artifactStore.prepare();
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    if (!/^s3:/.test(config.artifactStore ?? '')) {
      throw new ConfigError([`ARTIFACT_STORE is a folder that cannot be written to (${reason})`]);
    }
    log.error(
      { cause: error },
      'the bucket of ARTIFACT_STORE does not answer; files cannot be stored or read until it does',
    );
    return false;
  }
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void =>
      reject(new ConfigError([`HOST ${config.host}, PORT ${config.port} cannot be listened on (${error.message})`]));
    server.once('error', failed);
    server.listen({ host: config.host, port: config.port, backlog: 1024 }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

function publicAddress(server: Server, config: Config): string {
  if (config.baseUrl !== undefined) return config.baseUrl;
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : config.port;
  return `http://${isIPv6(config.host) ? `[${config.host}]` : config.host}:${port}`;
}

/** dist/web: beside the bundle, or below the repository when the sources are run directly. */
function webFolder(): string {
  const beside = join(import.meta.dirname, '../web');
  return existsSync(join(beside, 'index.html')) ? beside : join(import.meta.dirname, '../../dist/web');
}

function explainDatabase(error: unknown): string | undefined {
  const problem = databaseProblem(error);
  return problem === undefined ? undefined : `${problem.message} ${problem.advice}`;
}

/** The exit code. */
async function start(): Promise<number> {
  const answer = answerTo(process.argv.slice(2), version);
  if (answer !== undefined) {
    (answer.code === 0 ? process.stdout : process.stderr).write(answer.text);
    return answer.code;
  }
  const config = loadConfig();
  await main(config).catch((error: unknown) => {
    const reason = explainFullDisk(error, config.dataDir) ?? explainDatabase(error);
    throw reason === undefined ? error : new Error(reason, { cause: error });
  });
  return 0;
}

try {
  endProcess(await start());
} catch (error) {
  const message = error instanceof Error ? error.message : 'unknown reason';
  const isWhole = error instanceof ConfigError || error instanceof DisplacedError;
  process.stderr.write(`${isWhole ? message : `Homeport cannot start: ${message}`}\n`);
  endProcess(1);
}
