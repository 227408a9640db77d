import type { Usage } from '@homeport/contracts/frames';
import type { Pool } from 'pg';

/** What the service counts (contract section 10, GET /metrics). Labels are rows of the endpoint table and fixed words: few series. */
export type Metrics = {
  /** `route` is a path of the endpoint table; undefined: none was met. */
  request(method: string, route: string | undefined, status: number, seconds: number): void;
  responseEnded(state: string, usage: Usage | undefined): void;
  /** `status` of a provider's answer; undefined: there was none. Seconds until its headers. */
  providerCall(status: number | undefined, seconds: number): void;
  /** The exposition format, version 0.0.4, or undefined when nothing is counted. */
  render(): Promise<{ contentType: string; text: string } | undefined>;
};

/** What is looked at when the numbers are asked for. */
export type MetricSources = {
  runningResponses(): number;
  openStreams(): number;
  pool: Pick<Pool, 'totalCount' | 'idleCount' | 'waitingCount'>;
};

const ignore = (): undefined => undefined;
const noMetrics: Metrics = {
  request: ignore,
  responseEnded: ignore,
  providerCall: ignore,
  render: async () => undefined,
};

const requestBuckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];
const providerBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts when somebody may ask for the numbers, else does nothing: the library costs memory that an idle server does not need. */
export async function createMetrics(isWanted: boolean, sources: MetricSources): Promise<Metrics> {
  if (!isWanted) return noMetrics;
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client');
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read());
      },
    });
  const requests = new Histogram({
    ...{
      name: 'homeport_http_request_duration_seconds',
      help: 'Requests under /api until their answer began',
      registers,
    },
    ...{ labelNames: ['method', 'route', 'status'] as const, buckets: requestBuckets },
  });
  const responses = new Counter({
    ...{ name: 'homeport_responses_total', help: 'Responses that ended, by state', registers },
    labelNames: ['state'] as const,
  });
  const tokens = new Counter({
    ...{ name: 'homeport_tokens_total', help: 'Tokens as providers count them', registers },
    labelNames: ['kind'] as const,
  });
  const calls = new Histogram({
    ...{ name: 'homeport_provider_call_duration_seconds', help: 'Calls of models until the headers', registers },
    ...{ labelNames: ['outcome'] as const, buckets: providerBuckets },
  });
  gauge('homeport_responses_running', 'Responses that this replica makes now', sources.runningResponses);
  gauge('homeport_streams_open', 'Response streams open to clients of this replica', sources.openStreams);
  const { pool } = sources;
  new Gauge({
    ...{ name: 'homeport_database_connections', help: 'Connections of the pool, and who waits for one', registers },
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
      tokens.inc({ kind: 'input' }, usage.inputTokens);
      tokens.inc({ kind: 'output' }, usage.outputTokens);
      tokens.inc({ kind: 'reasoning' }, usage.reasoningTokens ?? 0);
    },
    providerCall(status, seconds) {
      calls.observe({ outcome: status === undefined ? 'unreachable' : `${Math.floor(status / 100)}xx` }, seconds);
    },
    render: async () => ({ contentType: register.contentType, text: await register.metrics() }),
  };
}
