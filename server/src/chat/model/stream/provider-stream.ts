import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ProviderWait } from '@homeport/contracts/chat/frames';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { providerHeaders, providerUrl } from '../../../catalogue/probes/provider-call.ts';
import { finalFailure, isLoading, isRetriable, providerStatusError } from '../failures/provider-errors.ts';
import { readRetryAfter, retryDelayIn } from '../failures/retry-delay.ts';
import { streamedRefusal } from '../failures/streamed-refusals.ts';
import { expectProtocol } from '../failures/wrong-protocol.ts';
import type { LackingAbility } from '../fitting/abilities.ts';
import { createLearner } from '../fitting/lessons.ts';
import { createRequestFitter, type FittedRequest } from '../fitting/request.ts';
import { createTextCalls } from '../fitting/tools/text-calls.ts';
import type { OmittedTool } from '../fitting/tools/tools.ts';
import type { CompletionBounds, CompletionResult, CompletionSink, ModelRequest, Protocol } from '../protocol.ts';
import { protocols } from '../protocols/protocols.ts';
import { type ProviderBody, readBody } from '../provider-body.ts';
import { isOpenAi, leftOut, type ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage } from '../provider-messages.ts';
import { addUsage } from '../usage.ts';
import { readCompletion } from './event-reader.ts';
import { isRecord } from './storable-text.ts';

/** One HTTP request through the outbound guard; response headers are in lower case. */
export type ProviderRequest = (
  url: string,
  init: {
    method: 'POST';
    headers: Record<string, string>;
    body: string;
    signal: AbortSignal;
    headersTimeoutMs: number;
    firstByteTimeoutMs: number;
    idleTimeoutMs: number;
    maxResponseBytes: number;
    decodes: boolean;
  },
) => Promise<{ status: number; headers: Record<string, string>; body: ProviderBody }>;

export type CompletionOptions = ModelRequest & {
  request: ProviderRequest;
  baseUrl: string;
  apiKey?: string;
  headers?: Record<string, string> | undefined;
  dialect: ProviderDialect;
  createId: () => string;
  /** Waits; rejects with the signal's reason when it aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The same for waits within one answer; by default of the system's clock. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  random: () => number;
  now: () => number;
  /** Called before a pause that a person would notice. */
  onWait?: ((wait: ProviderWait) => void) | undefined;
  /** Called for each parameter that the server or its protocol does not accept, once per turn. */
  onParameterRefused?: ((name: keyof Parameters) => void) | undefined;
  /** Called with the tools that the server does not get, each once per turn. */
  onToolsLeftOut?: ((tools: OmittedTool[]) => void) | undefined;
  /** Called with what the model does not take, each once per turn. */
  onAbilityLacking?: ((ability: LackingAbility) => void) | undefined;
  /** A stand-in answers if this model fails: it is asked once, twice if the provider asks for a short pause. */
  isReplaceable?: boolean;
  firstByteMs: number;
  idleTimeoutMs: number;
  bounds?: Partial<CompletionBounds>;
};

/** Limits of one completion: lengths in UTF-16 units, times in milliseconds. */
export const completionBounds: CompletionBounds = {
  // An event can hold a whole picture, and the last one of an answer all of them.
  maxEventLength: 24 * 1024 * 1024,
  // Above the limit of a whole response, which therefore ends with everything up to its own limit.
  maxTextLength: 2 * limits.answerBytes,
  maxToolCalls: 128,
  maxArgumentLength: 1024 * 1024,
};

const maxRetries = 2;
/** Attempts after the first one, each with something learned. */
const maxRefusals = 3;
const maxPauses = 16;
const firstBackoffMs = 500;
/** How long a model may load, and the longest pause between two questions whether it has. */
const maxLoadingMs = 75_000;
const maxLoadingPauseMs = 8_000;
/** How long a model can be silent before that is reported: until then a failure is an HTTP error. */
const silenceMs = 15_000;
/** Shorter pauses are no worse than a thinking model. */
const noticeableMs = 2_000;
/** Longest `retry-after` that is waited for although a stand-in could answer. */
const shortPauseSeconds = 10;
const maxErrorBytes = 64 * 1024;
const errorBodyMs = 5_000;
// An event with 4 characters of text is about 250 bytes on the wire.
const maxResponseBytes = 2 ** 32;

/** Sends requests to models of one protocol, for one turn. */
export type ModelClient = (
  options: CompletionOptions,
  sink: CompletionSink,
  signal: AbortSignal,
) => Promise<CompletionResult>;

/**
 * Asks a model and streams the answer into `sink`. Resolves when the answer is complete. Rejects with ApiError
 * (`provider_error` with `details.status`, `provider_unreachable`, `blocked_destination`), whose text never contains
 * the provider's response, or with the signal's reason. Output that reached the sink before a failure stays valid.
 * Retries 429, 5xx and failed connections at most twice, and only while nothing has reached the sink.
 */
export function createModelClient(kind: ProviderKind): ModelClient {
  const protocol = protocols[kind]();
  const fit = createRequestFitter(kind);
  const reported = new Set<string>();
  return async (options, sink, signal) => {
    const ask: Ask = { kind, protocol, fit, reported, options, bounds: { ...completionBounds, ...options.bounds } };
    const textCalls = hasTextCalls(kind, options) ? createTextCalls(sink, options.createId) : undefined;
    const watched = watchFirst(textCalls?.sink ?? sink);
    try {
      const answer = await withRetries(ask, watched, signal);
      const whole = answer.isPaused === true ? await continuePaused(ask, answer, watched, signal) : answer;
      return textCalls?.finish(whole, options) ?? whole;
    } catch (error) {
      textCalls?.release();
      throw error;
    }
  };
}

/** Servers of open models differ in which calls they recognize; the others' own models write none as text. */
function hasTextCalls(kind: ProviderKind, { tools = [] }: CompletionOptions): boolean {
  return (kind === 'openai' || kind === 'openai-responses') && tools.length > 0;
}

type Ask = {
  kind: ProviderKind;
  protocol: Protocol;
  fit: ReturnType<typeof createRequestFitter>;
  /** Parameters and tools that were reported as left out. */
  reported: Set<string>;
  options: CompletionOptions;
  bounds: CompletionBounds;
};
type Watched = ReturnType<typeof watchFirst>;

/** Continues a paused model by sending its output so far back to it. */
async function continuePaused(
  ask: Ask,
  paused: CompletionResult,
  watched: Watched,
  signal: AbortSignal,
): Promise<CompletionResult> {
  let answer = paused;
  for (let pauses = 0; pauses < maxPauses && answer.isPaused === true; pauses++) {
    const soFar: ChatMessage = { role: 'assistant', content: null, stepState: answer.stepState ?? [] };
    const options = { ...ask.options, messages: [...ask.options.messages, soFar] };
    const next = await withRetries({ ...ask, options }, watched, signal);
    const stepState =
      next.stepState === undefined && next.isPaused !== true
        ? undefined
        : [...(answer.stepState ?? []), ...(next.stepState ?? [])];
    answer = { ...next, usage: addUsage(answer.usage, next.usage), stepState };
  }
  const { isPaused: _isPaused, ...whole } = answer;
  return whole;
}

async function withRetries(ask: Ask, watched: Watched, signal: AbortSignal): Promise<CompletionResult> {
  const { options } = ask;
  let loadedMs = 0;
  let loadings = 0;
  for (let retries = 0; ; ) {
    try {
      return await attempt(ask, watched, signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = asProviderFailure(error);
      const isWaiting = isLoading(failure) && loadedMs < maxLoadingMs && options.isReplaceable !== true;
      const most = options.isReplaceable === true ? replaceableRetries(failure) : maxRetries;
      if (watched.hasBegun() || !isRetriable(failure) || !(isWaiting || retries < most)) {
        throw finalFailure(failure, options.now(), secretsOf(options));
      }
      const delay = isWaiting
        ? Math.min(retryDelayMs(failure, loadings + 1, options.random), maxLoadingPauseMs)
        : retryDelayMs(failure, retries, options.random);
      if (isWaiting) {
        loadedMs += delay;
        loadings++;
      } else retries++;
      if (delay >= noticeableMs) options.onWait?.(waitOf(failure, options.now() + delay));
      await options.sleep(delay, signal);
    }
  }
}

function replaceableRetries({ retryAfter = Number.POSITIVE_INFINITY }: ApiError): number {
  return retryAfter <= shortPauseSeconds ? 1 : 0;
}

type Sent = { refused: string; status: number; failure: ApiError };

/** Asks once, and again after a refusal that names something which can be left out or written differently. */
async function attempt(ask: Ask, { sink, hasBegun }: Watched, signal: AbortSignal): Promise<CompletionResult> {
  const { kind, options } = ask;
  const learn = createLearner(kind, options.dialect);
  let request: ModelRequest | undefined = requestOf(options);
  for (let refusals = 0; ; refusals++) {
    const sent = ask.fit(request, options.dialect);
    reportRefused(ask, sent);
    const result = await reportingSilence(options, hasBegun, signal, () => send(ask, sent.request, sink, signal));
    if (!('refused' in result)) return result;
    const { failure, refused: text } = result;
    const canLearn = refusals < maxRefusals && !hasBegun() && isLesson(result);
    request = canLearn ? learn({ request, sent: sent.request, text }) : undefined;
    if (request === undefined) throw failure;
  }
}

/** Reports a model that is silent for long, with the time until which its first byte is awaited. */
async function reportingSilence<Result>(
  { wait, onWait, now, firstByteMs }: CompletionOptions,
  hasBegun: () => boolean,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  if (wait === undefined || onWait === undefined || firstByteMs <= silenceMs) return work();
  const answered = new AbortController();
  const retryAt = new Date(now() + firstByteMs).toISOString();
  wait(silenceMs, AbortSignal.any([signal, answered.signal])).then(
    () => hasBegun() || onWait({ reason: 'first_byte', retryAt }),
    () => undefined,
  );
  try {
    return await work();
  } finally {
    answered.abort();
  }
}

/** Templates of some local servers fail with 500. Other failures of a server are no refusals. */
function isLesson({ status, refused }: Sent): boolean {
  return refused !== '' && (status < 500 || status === 500 || status === 501);
}

async function send(
  { kind, protocol, options, bounds }: Ask,
  request: ModelRequest,
  sink: CompletionSink,
  signal: AbortSignal,
): Promise<CompletionResult | Sent> {
  const response = await options.request(providerUrl(kind, options.baseUrl, protocol.path(options.modelId)), {
    method: 'POST',
    headers: requestHeaders(kind, options),
    body: protocol.body(request, options.dialect),
    signal,
    headersTimeoutMs: options.firstByteMs,
    firstByteTimeoutMs: options.firstByteMs,
    idleTimeoutMs: options.idleTimeoutMs,
    maxResponseBytes,
    decodes: true,
  });
  const { status } = response;
  if (status >= 200 && status < 300) {
    try {
      const parser = expectProtocol(kind, protocol.createParser(sink, options.createId, bounds));
      return await readCompletion(response.body, parser, signal, options.wait);
    } catch (error) {
      const refused = streamedRefusal(error);
      if (refused === undefined || !(error instanceof ApiError)) throw error;
      return { refused, status: 400, failure: error };
    }
  }
  const text = await readErrorText(response.body, signal);
  const retryAfter = readRetryAfter(response.headers['retry-after'], options.now()) ?? retryDelayIn(text);
  return { refused: text, status, failure: providerStatusError(status, text, retryAfter) };
}

function requestOf(options: CompletionOptions): ModelRequest {
  const { modelId, history, messages, tools, maxOutputTokens, parameters, demands } = options;
  const { baseUrl, cacheKey, source, abilities } = options;
  return {
    modelId,
    history,
    messages,
    tools,
    maxOutputTokens,
    parameters,
    demands,
    abilities,
    source,
    cacheKey: isOpenAi(baseUrl) ? cacheKey : undefined,
  };
}

/** Reports each parameter and tool that is not sent, once per turn. */
function reportRefused({ kind, reported, options }: Ask, { omitted, lacking }: FittedRequest): void {
  for (const ability of lacking) {
    if (!reported.has(`ability ${ability}`)) options.onAbilityLacking?.(ability);
    reported.add(`ability ${ability}`);
  }
  const news = omitted.filter(({ name }) => !reported.has(`tool ${name}`));
  if (news.length > 0) options.onToolsLeftOut?.(news);
  for (const { name } of news) reported.add(`tool ${name}`);
  for (const name of leftOut(kind, options.dialect, options.parameters)) {
    if (!reported.has(name)) options.onParameterRefused?.(name);
    reported.add(name);
  }
}

function requestHeaders(kind: ProviderKind, options: CompletionOptions): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'accept-encoding': 'identity',
    ...providerHeaders(kind, { apiKey: options.apiKey, headers: options.headers ?? {} }),
  };
}

async function readErrorText(body: ProviderBody, signal: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(errorBodyMs)]);
  const take = (chunk: Uint8Array): boolean => {
    chunks.push(chunk);
    size += chunk.length;
    return size >= maxErrorBytes;
  };
  try {
    await readBody(body, take, bounded);
  } catch {
    signal.throwIfAborted();
  } finally {
    body.destroy?.();
  }
  return Buffer.concat(chunks).toString();
}

function retryDelayMs(failure: ApiError, retries: number, random: () => number): number {
  const backoff = firstBackoffMs * 2 ** retries * (0.5 + random() / 2);
  return failure.retryAfter === undefined ? backoff : Math.max(failure.retryAfter * 1000, backoff);
}

function waitOf({ details }: ApiError, retryAt: number): ProviderWait {
  const cause = isRecord(details) ? details.reason : undefined;
  const reason = cause === 'rate_limit' ? 'rate_limited' : cause === 'loading' ? 'loading' : 'unavailable';
  return { reason, retryAt: new Date(retryAt).toISOString() };
}

function secretsOf({ apiKey, headers }: CompletionOptions): string[] {
  return [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(headers ?? {})];
}

function asProviderFailure(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = 'The provider cannot be reached. Check the base URL, and whether the provider is running.';
  return new ApiError('provider_unreachable', message, { cause: error });
}

function watchFirst(sink: CompletionSink): { sink: CompletionSink; hasBegun: () => boolean } {
  let begun = false;
  return {
    hasBegun: () => begun,
    sink: {
      text(delta) {
        begun = true;
        sink.text(delta);
      },
      reasoning(delta) {
        begun = true;
        sink.reasoning(delta);
      },
      textWasReasoning: (text) => sink.textWasReasoning?.(text),
      toolStart(call) {
        begun = true;
        sink.toolStart(call);
      },
      toolDelta: (id, delta) => sink.toolDelta(id, delta),
      state: (item) => sink.state?.(item),
      source(source) {
        begun = true;
        sink.source?.(source);
      },
      picture(picture) {
        begun = true;
        sink.picture?.(picture);
      },
    },
  };
}
