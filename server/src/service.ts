import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createActorFinder } from './accounts/actor.ts';
import { SessionWatch } from './accounts/session-watch.ts';
import { startAuditRetention } from './administration/audit-retention.ts';
import { createApp } from './app.ts';
import { openBlobStore } from './artifacts/open-store.ts';
import { Pictures } from './artifacts/pictures/pictures.ts';
import { startSweeper } from './artifacts/sweeper.ts';
import { lastBackup } from './backups/backup-rows.ts';
import { PageBackups } from './backups/page-backups.ts';
import { readBackupInterval, startScheduledBackups } from './backups/scheduled-backups.ts';
import { type ChatTimings, RunningResponses } from './chat/run/running-responses.ts';
import { asking } from './chat/tools/after-reading.ts';
import { withAgentTools } from './chat/tools/agent-tools.ts';
import { createDocumentToolFinder } from './chat/tools/document-tools.ts';
import type { FindTools } from './chat/tools/find-tools.ts';
import { createMcpToolFinder } from './chat/tools/mcp-tools.ts';
import { ruled } from './chat/tools/rules/tool-rules.ts';
import { tracedTools } from './chat/tools/traced-tools.ts';
import { createWebToolFinder } from './chat/tools/web-tools.ts';
import { createWorkspaceToolFinder, joinTools } from './chat/tools/workspace/workspace-tools.ts';
import type { Config } from './config/config.ts';
import { startSearchWalks } from './conversations/search/backfill.ts';
import type { Database } from './db/pool.ts';
import type { Deps } from './deps.ts';
import { Documents } from './documents/documents.ts';
import { createEgress, type Egress } from './egress/egress.ts';
import { ConnectionDrain } from './http/connection-drain.ts';
import { openStreamCount } from './http/event-stream.ts';
import { answerMalformedHttp } from './http/malformed-http.ts';
import { originRule } from './http/origin.ts';
import { createWebClient } from './http/pages/web-client.ts';
import { createUpgrades } from './http/upgrade.ts';
import { Imports } from './imports/imports.ts';
import { McpConnections } from './mcp/connection/connections.ts';
import { type Clock, systemClock } from './platform/clock.ts';
import { type DiskOptions, watchDisk } from './platform/disk-space.ts';
import { trimHeapWhenQuiet } from './platform/heap-trim.ts';
import { createMetrics } from './platform/metrics.ts';
import { waitAtMost } from './platform/waits.ts';
import { bindCredentials } from './provision/bind-credentials.ts';
import { Sandbox } from './sandbox/sandbox.ts';
import { createKeyRing } from './secrets/key-ring.ts';
import { readPageConfig } from './settings/public-config.ts';
import { noTracing, type Tracing } from './tracing/tracing.ts';
import { startUsageRetention } from './usage/retention.ts';
import { findLivePrograms, findWorkspaceUser } from './workspaces/identity.ts';
import { openWorkspaces } from './workspaces/lifecycle/open-workspaces.ts';
import { countWorkspaces } from './workspaces/lifecycle/rows.ts';
import type { WorkspaceTimings } from './workspaces/lifecycle/timings.ts';
import { Previews } from './workspaces/previews/previews.ts';
import { openProgram } from './workspaces/programs.ts';
import type { RuntimeHost, WorkspaceRuntime } from './workspaces/runtime.ts';
import { Terminals, terminalPath } from './workspaces/terminal-handlers.ts';

export type ServiceOptions = {
  config: Config;
  db: Database;
  log: Logger;
  clock: Clock;
  /** The folder of the built browser client; absent: API only. */
  webFolder?: string;
  timings?: ChatTimings;
  /** No other replica serves the database: this one continues the turns that earlier ones handed over. */
  isFirst?: boolean;
  /** Recorder of traces; none by default. */
  tracing?: Tracing;
  /** Tests pass one with another resolver. */
  egress?: Egress;
  /** The tools of a response; by default those of the owner's MCP servers. */
  findTools?: FindTools;
  /** Runtime of workspaces; by default the one that WORKSPACE_MODE selects. */
  workspaceRuntime?: WorkspaceRuntime;
  workspaceTimings?: WorkspaceTimings;
  /** For files that are lent to the processes that parse; by default in DATA_DIR. */
  parsingFolder?: string;
  /** Tests pass their own disk. */
  readSpace?: DiskOptions['readSpace'];
};

/** One replica on a migrated database: everything except the process around it. */
export type Service = {
  deps: Deps;
  server: Server;
  /**
   * Announces that it is stopping and keeps serving for `noticeMs`, so that balancers stop sending requests; lets
   * requests and running responses finish for `drainMs`; then closes every connection.
   */
  stop(drainMs: number, noticeMs?: number): Promise<void>;
};

const serverLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 20_000,
  // Bodies have their own time limit in http/body-bytes.ts; streams must not have one.
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false,
};

/** So that the last bytes reach their readers. */
const lastBytesMs = 250;

export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, db, log, clock } = options;
  const egress = options.egress ?? createEgress(config);
  const secrets = createKeyRing({ current: config.encryptionKey, previous: [...config.previousEncryptionKeys] });
  const { readSpace } = options;
  const disk = await watchDisk({
    dataDir: config.dataDir,
    hasDatabase: db.alone,
    log,
    ...(readSpace === undefined ? {} : { readSpace }),
  });
  const metrics = await createMetrics(config.metricsToken !== undefined, {
    runningResponses: () => responses.size,
    openStreams: openStreamCount,
    workspaces: () => countWorkspaces({ db }),
    pool: db.pool,
    freeBytes: () => disk.freeBytes,
    lastBackup: () => lastBackup(db),
    backupIntervalSeconds: () => readBackupInterval({ config, db }),
    version: config.version,
  });
  const tracing = options.tracing ?? noTracing;
  const artifactStore = openBlobStore(config, disk);
  const sandbox = new Sandbox(options.parsingFolder ?? join(config.dataDir, 'parsing'), log);
  const documents = new Documents({ db, artifactStore, clock, log, sandbox });
  const pictures = new Pictures({ sandbox, log });
  const files = { artifactStore, documents, pictures };
  const base = { config, db, secrets, sandbox, egress, disk, ...files, clock, log, metrics, tracing };
  const imports = new Imports(base);
  await bindCredentials(base);
  const mcp = new McpConnections({
    ...base,
    openProgram: (...program) => openProgram(workspaces, ...program),
  });
  const host: RuntimeHost = {
    config,
    log,
    egress,
    disk,
    async findUserId(token) {
      const user = await findWorkspaceUser(base, token);
      return user?.enabled === true ? user.id : undefined;
    },
    serve: (request, response) => listener(request, response),
  };
  const workspaces = await openWorkspaces(base, options, host);
  const findTools =
    options.findTools ??
    withAgentTools(
      base,
      asking(
        base,
        ruled(
          base,
          createWorkspaceToolFinder(
            { ...base, workspaces },
            {
              findOthers: joinTools(createDocumentToolFinder(base), createMcpToolFinder({ ...base, mcp })),
              findWeb: createWebToolFinder(base),
            },
          ),
        ),
      ),
    );
  const responses = new RunningResponses({ ...base, findTools: tracedTools(tracing, findTools) }, options.timings);
  const door = new ConnectionDrain();
  const backups = new PageBackups(base);
  const deps: Deps = {
    ...base,
    imports,
    door,
    findActor: createActorFinder(base),
    sessions: new SessionWatch(base),
    programs: new SessionWatch(base, findLivePrograms),
    responses,
    mcp,
    workspaces,
    backups,
    async accountDisabled(userId) {
      responses.stopDisabled();
      await workspaces.accountDisabled(userId);
    },
  };
  const previews = new Previews(deps);
  const web =
    options.webFolder === undefined
      ? undefined
      : await createWebClient(
          options.webFolder,
          () => readPageConfig(deps),
          (host) => previews.frames(host),
        );
  const listener: RequestListener = createApp(deps, web);
  const terminals = new Terminals(deps);
  const upgrades = createUpgrades({
    path: terminalPath,
    log,
    metrics,
    origin: originRule(config.baseUrl),
    identify: deps.findActor,
    handle: (input) => terminals.open(input),
  });
  const shouldUpgradeCallback = (request: IncomingMessage) =>
    previews.owns(request) ? previews.accepts(request) : upgrades.accepts(request);
  const server = createServer({ ...serverLimits, shouldUpgradeCallback }, previews.listener(listener));
  server.maxConnections = config.maxConnections;
  server.on('upgrade', (request, socket, head) => {
    if (previews.owns(request)) previews.upgrade(request, socket, head);
    else upgrades.answer(request, socket, head);
  });
  answerMalformedHttp(server);
  door.watch(server, () =>
    log.warn({ most: config.maxConnections }, 'refusing new connections: the limit MAX_CONNECTIONS is reached'),
  );
  const sweeper = startSweeper(deps);
  const usageRetention = startUsageRetention(deps);
  const auditRetention = startAuditRetention(deps);
  const searchWalks = startSearchWalks(deps);
  const scheduled = startScheduledBackups(deps);
  const heapTrim = trimHeapWhenQuiet({ clock: systemClock, log, isBusy: () => responses.size > 0 });
  await responses.start({ isFirst: options.isFirst === true });
  imports.start();
  return {
    deps,
    server,
    async stop(drainMs, noticeMs = 0) {
      door.drain();
      if (noticeMs > 0) await clock.sleep(noticeMs);
      const lastLeft = door.close();
      // First, because the next line closes open terminals, which count as use now.
      await workspaces.stopUnused();
      terminals.close();
      previews.close();
      await Promise.all([sweeper.stop(), usageRetention.stop(), auditRetention.stop()]);
      await scheduled.stop();
      await backups.stop();
      searchWalks.stop();
      heapTrim.stop();
      await Promise.all([responses.drain(drainMs), waitAtMost(systemClock, drainMs, lastLeft)]);
      await Promise.all([documents.close(), imports.close()]);
      await sandbox.close();
      await waitAtMost(systemClock, lastBytesMs, lastLeft);
      await workspaces.close();
      server.closeAllConnections();
      mcp.close();
      artifactStore.close();
      disk.close();
      egress.close();
    },
  };
}
