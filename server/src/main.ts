import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { createActorFinder } from './accounts/actor.ts';
import { createApp } from './app.ts';
import { RunningResponses } from './chat/running-responses.ts';
import { systemClock } from './clock.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { openDatabase } from './db/pool.ts';
import type { Deps } from './deps.ts';
import { createEgress } from './egress/egress.ts';
import { createWebClient } from './http/web-client.ts';
import { createKeyRing } from './secrets/key-ring.ts';
import { readPublicConfig } from './settings/public-config.ts';

/** How long running responses may finish after SIGTERM (contract section 10). */
const drainMs = 25_000;
const shutdownMs = 35_000;

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  const stopping = new AbortController();
  onStopSignal(() => stopping.abort(new Error('Stopped while starting')));
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbedded({ dataDir: config.dataDir, log, signal: stopping.signal })
      : undefined;
  const db = openDatabase({ connection: embedded?.connection ?? config.databaseUrl ?? '', max: 20, log });
  const applied = await migrate(db);
  if (applied.length > 0) log.info({ applied }, 'database migrated');

  const egress = createEgress(config);
  egress.installGlobally();
  const secrets = createKeyRing({ current: config.encryptionKey, previous: [...config.previousEncryptionKeys] });
  const base = { config, db, secrets, egress, clock: systemClock, log };
  const responses = new RunningResponses(base);
  const deps: Deps = { ...base, findActor: createActorFinder(base), responses };
  const web = await createWebClient(webFolder(), () => readPublicConfig(deps));

  const server = createServer(serverLimits, createApp(deps, web));
  await listen(server, config);
  responses.start();
  log.info({ address: publicAddress(server, config), edition: config.edition }, 'Homeport is ready');

  await aborted(stopping.signal);
  log.info('stopping: running responses may finish');
  const exit = setTimeout(() => process.exit(1), shutdownMs);
  exit.unref();
  server.close();
  server.closeIdleConnections();
  await responses.drain(drainMs);
  server.closeAllConnections();
  await egress.close();
  await db.close();
  await embedded?.stop();
  log.info('stopped');
}

const serverLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 20_000,
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

function onStopSignal(stop: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new ConfigError([`HOST ${config.host} and PORT ${config.port} cannot be listened on (${error.message})`])),
    );
    server.listen({ host: config.host, port: config.port, backlog: 1024 }, resolve);
  });
}

function publicAddress(server: Server, config: Config): string {
  if (config.baseUrl !== undefined) return config.baseUrl;
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : config.port;
  return `http://${isIPv6(config.host) ? `[${config.host}]` : config.host}:${port}`;
}

/** dist/web beside the bundle, or below the repository when the sources are run directly. */
function webFolder(): string {
  const beside = join(import.meta.dirname, '../web');
  return existsSync(join(beside, 'index.html')) ? beside : join(import.meta.dirname, '../../dist/web');
}

process.on('unhandledRejection', (reason) => {
  // One request's forgotten promise must not end everybody's answers.
  process.stderr.write(`${JSON.stringify({ level: 50, msg: 'unhandled rejection', error: String(reason) })}\n`);
});

try {
  await main();
  process.exitCode = 0;
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : describe(error)}\n`);
  process.exit(1);
}

function describe(error: unknown): string {
  return error instanceof Error ? `Homeport cannot start: ${error.message}` : 'Homeport cannot start';
}
