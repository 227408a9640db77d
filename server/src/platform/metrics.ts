import type { Usage } from '@homeport/contracts/chat/frames';
import type { Pool } from 'pg';

/**
 * Metrics of the service (contract.md section 10, GET /metrics). Labels are rows of the endpoint table and fixed words,
 * so there are few series.
 */
export type Metrics = {
  /** `route` is a path of the endpoint table; undefined if none matched. */
  request(method: string, route: string | undefined, status: number, seconds: number): void;
  responseEnded(state: string, usage: Usage | undefined): void;
  /** `status` of a provider's response; undefined if there was none. Seconds until its headers. */
  providerCall(status: number | undefined, seconds: number): void;
  /** A start of a workspace has ended. */
  workspaceStarted(outcome: 'ready' | 'failed', seconds: number): void;
  /** The exposition format, version 0.0.4; undefined if metrics are off. */
  render(): Promise<{ contentType: string; text: string } | undefined>;
};

/** Sources that are read when metrics are requested. */
export type MetricSources = {
  runningResponses(): number;
  openStreams(): number;
  /** For the whole installation. */
  workspaces(): Promise<{ running: number; starting: number }>;
  /** On the disk of DATA_DIR. */
  freeBytes(): number;
  /** Of the whole installation: seconds since 1970 (0: never), and whether the last one failed. */
  lastBackup(): Promise<{ madeAt: number; hasFailed: boolean }>;
  /** Between two backups of the schedule; 0 without one. */
  backupIntervalSeconds(): Promise<number>;
  version: string;
  pool: Pick<Pool, 'totalCount' | 'idleCount' | 'waitingCount'>;
};

const ignore = (): undefined => undefined;
const noMetrics: Metrics = {
  request: ignore,
  responseEnded: ignore,
  providerCall: ignore,
  workspaceStarted: ignore,
  render: async () => undefined,
};

const requestBuckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];
const providerBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const startBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 90];
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Counts if metrics can be requested, otherwise does nothing: the library costs memory that an idle server does not
 * need.
 */
export async function createMetrics(isWanted: boolean, sources: MetricSources): Promise<Metrics> {
  if (!isWanted) return noMetrics;
  // Through its default export: in a bundle, a CommonJS package has no other name.
  const { default: prometheus } = await import('prom-client');
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = prometheus;
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const requests = new Histogram({
    name: 'homeport_http_request_duration_seconds',
    help: 'Requests under /api until the response began; route as in the API reference, "none" for others',
    registers,
    labelNames: ['method', 'route', 'status'] as const,
    buckets: requestBuckets,
  });
  const responses = new Counter({
    name: 'homeport_responses_total',
    help: 'Answers that ended, by state',
    registers,
    labelNames: ['state'] as const,
  });
  const tokens = new Counter({
    name: 'homeport_tokens_total',
    help: 'Tokens as providers count them: input, output, and of these reasoning, cached, cache-write',
    registers,
    labelNames: ['kind'] as const,
  });
  const cost = new Counter({
    name: 'homeport_cost_dollars_total',
    help: 'Cost of answers with known prices; the page Usage shows it by person and model',
    registers,
  });
  const calls = new Histogram({
    name: 'homeport_provider_call_duration_seconds',
    help: 'Calls to models until the headers arrived, by outcome: 2xx, 4xx, 5xx, unreachable',
    registers,
    labelNames: ['outcome'] as const,
    buckets: providerBuckets,
  });
  gauge('homeport_responses_running', 'Answers that this replica is making', sources.runningResponses);
  gauge('homeport_streams_open', 'Event streams open to clients of this replica', sources.openStreams);
  gauge('homeport_disk_free_bytes', 'Free space on the disk of DATA_DIR', sources.freeBytes);
  new Gauge({
    name: 'homeport_build_info',
    help: '1, with the release as a label',
    registers,
    labelNames: ['version'] as const,
  }).set({ version: sources.version }, 1);
  // Each reads for itself, since they are collected side by side; nothing while the database is away.
  const backupGauge = (name: string, help: string, read: (last: { madeAt: number; hasFailed: boolean }) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const last = await sources.lastBackup().catch(() => undefined);
        if (last === undefined) this.remove();
        else this.set(read(last));
      },
    });
  backupGauge('homeport_backup_failed', '1 if the last backup of the installation failed', ({ hasFailed }) =>
    hasFailed ? 1 : 0,
  );
  backupGauge(
    'homeport_backup_last_success_timestamp_seconds',
    'End of the last backup of the installation; 0: there is none',
    (last) => last.madeAt,
  );
  new Gauge({
    name: 'homeport_backup_interval_seconds',
    help: 'Time between two backups of the schedule; 0: there is no schedule',
    registers,
    async collect() {
      const seconds = await sources.backupIntervalSeconds().catch(() => undefined);
      if (seconds === undefined) this.remove();
      else this.set(seconds);
    },
  });
  const starts = new Histogram({
    name: 'homeport_workspace_start_duration_seconds',
    help: 'Workspace starts by this replica, by outcome: ready, failed',
    registers,
    labelNames: ['outcome'] as const,
    buckets: startBuckets,
  });
  new Gauge({
    name: 'homeport_workspaces',
    help: 'Workspaces of the installation that are running or starting',
    registers,
    labelNames: ['phase'] as const,
    async collect() {
      const counts = await sources.workspaces().catch(() => undefined);
      // The database is unavailable: no number is better than a wrong one.
      if (counts === undefined) return this.reset();
      this.set({ phase: 'running' }, counts.running);
      this.set({ phase: 'starting' }, counts.starting);
    },
  });
  const { pool } = sources;
  new Gauge({
    name: 'homeport_database_connections',
    help: 'The pool: idle and busy connections, and requests waiting for one',
    registers,
    labelNames: ['state'] as const,
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'waiting' }, pool.waitingCount);
    },
  });
  return {
    request(method, route, status, seconds) {
      const known = methods.has(method) ? method : 'other';
      requests.observe({ method: known, route: route ?? 'none', status: String(status) }, seconds);
    },
    responseEnded(state, usage) {
      responses.inc({ state });
      if (usage === undefined) return;
      if (typeof usage.cost === 'number') cost.inc(usage.cost / 1_000_000);
      tokens.inc({ kind: 'input' }, usage.inputTokens);
      tokens.inc({ kind: 'output' }, usage.outputTokens);
      tokens.inc({ kind: 'reasoning' }, usage.reasoningTokens ?? 0);
      tokens.inc({ kind: 'cached' }, usage.cachedInputTokens ?? 0);
      tokens.inc({ kind: 'cache-write' }, usage.cacheWriteTokens ?? 0);
    },
    providerCall(status, seconds) {
      calls.observe({ outcome: status === undefined ? 'unreachable' : `${Math.floor(status / 100)}xx` }, seconds);
    },
    workspaceStarted(outcome, seconds) {
      starts.observe({ outcome }, seconds);
    },
    render: async () => ({ contentType: register.contentType, text: await register.metrics() }),
  };
}
