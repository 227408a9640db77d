import { choice, flag, optional, text } from './setting-kinds.ts';

/** `name=value,name=value`, the values percent-encoded, as OpenTelemetry writes lists; undefined if it is none. */
export function parsePairs(given: string): [string, string][] | undefined {
  const pairs: [string, string][] = [];
  for (const entry of given.split(',').filter((part) => part.trim() !== '')) {
    const equals = entry.indexOf('=');
    const [name, value] = [entry.slice(0, equals).trim(), entry.slice(equals + 1).trim()];
    if (equals === -1 || !/^[\w.-]+$/.test(name)) return undefined;
    try {
      pairs.push([name, decodeURIComponent(value)]);
    } catch {
      return undefined;
    }
  }
  return pairs;
}

const isHttpUrl = (given: string): boolean => /^https?:$/.test(URL.parse(given)?.protocol ?? '');
const isPairs = (given: string): boolean => parsePairs(given) !== undefined;
const isRatio = (given: string): boolean => /^(?:0|1|0?\.\d{1,9}|1\.0+|0\.0+)$/.test(given);
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplers)[number];

/** OpenTelemetry's own names, so that variables that a platform sets for all its services work here, too. */
export const tracingSettings = {
  tracesBase: optional('OTEL_EXPORTER_OTLP_ENDPOINT', {
    about:
      'Sends traces to the OpenTelemetry collector at this address, below it at `/v1/traces`. Without it nothing is recorded: [traces](operations.md#traces).',
    takes: 'an http:// or https:// URL',
    valid: isHttpUrl,
  }),
  tracesUrl: optional('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', {
    about: 'The same, but the whole address, used as it is.',
    takes: 'an http:// or https:// URL',
    valid: isHttpUrl,
  }),
  tracesProtocol: choice('OTEL_EXPORTER_OTLP_PROTOCOL', ['http/protobuf'], 'http/protobuf', {
    about: 'How traces are sent. There is only this way.',
  }),
  tracesHeaders: optional('OTEL_EXPORTER_OTLP_HEADERS', {
    about: 'Headers for the collector, such as its key.',
    takes: '`name=value,…`, with percent-encoded values',
    secret: true,
    valid: isPairs,
  }),
  tracesService: text('OTEL_SERVICE_NAME', 'homeport', {
    about: 'How this installation is called in traces.',
    takes: 'a name',
  }),
  tracesResource: optional('OTEL_RESOURCE_ATTRIBUTES', {
    about: 'Further facts on this installation for traces, such as `deployment.environment.name=test`.',
    takes: '`name=value,…`, with percent-encoded values',
    valid: isPairs,
  }),
  tracesSampler: choice('OTEL_TRACES_SAMPLER', samplers, 'parentbased_always_on', {
    about: 'Which traces are recorded. `parentbased_…` follows the decision of the caller, if there is a trusted one.',
  }),
  tracesSamplerArg: text('OTEL_TRACES_SAMPLER_ARG', '1', {
    about: 'The share of traces with the samplers named `…traceidratio`.',
    takes: 'a number from 0 to 1',
    valid: isRatio,
  }),
  traceContextToProviders: flag('TRACE_CONTEXT_TO_PROVIDERS', false, {
    about: 'Whether providers get the `traceparent` header of the trace, for providers of your own that record traces.',
  }),
} as const;
