import { AsyncLocalStorage } from 'node:async_hooks';
import { hostname } from 'node:os';
import { trimEndOf } from '@homeport/contracts/text/trim-characters';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Config } from '../config/config.ts';
import { parsePairs, type SamplerName } from '../config/tracing-settings.ts';
import type { DatabaseLog } from '../db/pool.ts';
import { systemClock } from '../platform/clock.ts';
import { waitAtMost } from '../platform/waits.ts';
import { failureKind, type SpanFacts, type SpanStart, statementName, type Tracing } from './tracing.ts';

/** Queue of spans for the collector; further spans are dropped, even if the collector is slow or down. */
const queue = { maxQueueSize: 2_048, maxExportBatchSize: 512, scheduledDelayMillis: 1_000 };
const exportMs = 5_000;
const closeMs = 2_000;
const spanLimits = { attributeValueLengthLimit: 200, attributeCountLimit: 32 };
const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** Loaded only when a collector is named (tracing.ts). */
export function openTracing(config: Config, log: DatabaseLog): Tracing {
  const exporter = watched(
    new OTLPTraceExporter({
      url: config.tracesUrl ?? `${trimEndOf(config.tracesBase ?? '', '/')}/v1/traces`,
      headers: Object.fromEntries(parsePairs(config.tracesHeaders ?? '') ?? []),
      timeoutMillis: exportMs,
      concurrencyLimit: 2,
    }),
    log,
  );
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      ...Object.fromEntries(parsePairs(config.tracesResource ?? '') ?? []),
      'service.name': config.tracesService,
      'service.version': config.version,
      'service.instance.id': `${hostname()}:${process.pid}`,
    }),
    sampler: samplerOf(config.tracesSampler, Number(config.tracesSamplerArg)),
    spanLimits,
    spanProcessors: [new BatchSpanProcessor({ exporter, ...queue, exportTimeoutMillis: exportMs })],
  });
  const tracer = provider.getTracer('homeport', config.version);
  const running = new AsyncLocalStorage<Context>();
  // Work in the background inherits what began it; nothing is added to what has ended.
  const current = (): Span | undefined => {
    const span = trace.getSpan(running.getStore() ?? ROOT_CONTEXT);
    return span?.isRecording() === true ? span : undefined;
  };

  async function run<T>({ kind, name, facts = {}, parent }: SpanStart, work: () => Promise<T>): Promise<T> {
    const within = parent === undefined ? undefined : contextOf(parent);
    // Can be a child of an ended span: an answer continues after the request that started it.
    const above = within ?? running.getStore() ?? ROOT_CONTEXT;
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes: present(facts) }, above);
    try {
      return await running.run(trace.setSpan(above, span), work);
    } catch (error) {
      mark(span, failureKind(error));
      throw error;
    } finally {
      span.end();
    }
  }

  return {
    span: run,
    statement(sql, work) {
      if (current() === undefined) return work();
      const { verb, name } = statementName(sql);
      const facts = { 'db.system.name': 'postgresql', 'db.operation.name': verb, 'db.query.summary': name };
      return run({ kind: 'client', name, facts }, work);
    },
    tell: (facts) => void current()?.setAttributes(present(facts)),
    fail(kind) {
      const span = current();
      if (span !== undefined) mark(span, kind);
    },
    header() {
      const of = current()?.spanContext();
      return of === undefined ? undefined : `00-${of.traceId}-${of.spanId}-0${of.traceFlags & TraceFlags.SAMPLED}`;
    },
    close: () =>
      waitAtMost(
        systemClock,
        closeMs,
        provider.shutdown().catch(() => undefined),
      ),
  };
}

function mark(span: Span, kind: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', kind);
}

function present(facts: SpanFacts): Record<string, string | number | boolean> {
  const kept = Object.entries(facts).filter(
    (fact): fact is [string, string | number | boolean] => fact[1] !== undefined,
  );
  return Object.fromEntries(kept);
}

/** W3C Trace Context, version 00; anything else is no parent. */
function contextOf(header: string): Context | undefined {
  const [, traceId, spanId, flags] = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function samplerOf(name: SamplerName, share: number): Sampler {
  const [, own] = /^(?:parentbased_)?(.*)$/.exec(name) ?? [];
  const root =
    own === 'traceidratio'
      ? new TraceIdRatioBasedSampler(share)
      : own === 'always_off'
        ? new AlwaysOffSampler()
        : new AlwaysOnSampler();
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

/** Its kind and the collector's status; a message could have an address with a key. */
function reasonOf(error: Error | undefined): object {
  const status: unknown = error !== undefined && 'code' in error ? error.code : undefined;
  return { reason: failureKind(error), ...(typeof status === 'number' ? { status } : {}) };
}

/** Says once that the collector is away, and once that it is back. */
function watched(exporter: SpanExporter, log: DatabaseLog): SpanExporter {
  let isAway = false;
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0;
        if (failed && !isAway)
          log.warn(reasonOf(result.error), 'failed to send traces: the collector refuses them or is unreachable');
        if (!failed && isAway) log.info({}, 'sending traces works again');
        isAway = failed;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}
