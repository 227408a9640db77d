import { ApiError } from '@homeport/contracts/errors';
import type { ProviderWait } from '@homeport/contracts/frames';
import type { Parameters } from '@homeport/contracts/parameters';
import { providerHeaders, providerUrl } from '../../catalogue/provider-call.ts';
import type { CompletionBounds, CompletionResult, CompletionSink } from './completion-parser.ts';
import { readCompletion } from './completion-reader.ts';
import { type ProviderBody, readBody } from './provider-body.ts';
import { isRetriable, providerStatusError } from './provider-errors.ts';
import type { ChatMessage } from './provider-messages.ts';
import { isRecord } from './storable-text.ts';

/** One HTTP request through the outbound guard; `headers` of the answer are in lower case. */
export type ProviderRequest = (
  url: string,
  init: {
    method: 'POST';
    headers: Record<string, string>;
    body: string;
    signal: AbortSignal;
    headersTimeoutMs: number;
    idleTimeoutMs: number;
    maxResponseBytes: number;
  },
) => Promise<{ status: number; headers: Record<string, string>; body: ProviderBody }>;

/** A tool as the model sees it. */
export type ToolDefinition = { name: string; description: string; inputSchema: Record<string, unknown> };

/** What differs between servers of the same API; learnt from refusals and kept by the caller between calls. */
export type ProviderDialect = { maxTokensField: 'max_tokens' | 'max_completion_tokens'; streamOptions: boolean };

export type CompletionOptions = {
  request: ProviderRequest;
  baseUrl: string;
  apiKey?: string | undefined;
  headers?: Record<string, string> | undefined;
  modelId: string;
  /** JSON texts of messages, separated by commas, sent before `messages` as they are. */
  history?: string | undefined;
  messages: ChatMessage[];
  tools?: ToolDefinition[] | undefined;
  maxOutputTokens: number;
  /** What somebody set; `maxOutputTokens` of it is in the one above. */
  parameters?: Parameters | undefined;
  dialect: ProviderDialect;
  createId: () => string;
  /** Waits; rejects with the signal's reason when it aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  random: () => number;
  now: () => number;
  /** Hears of a pause before another try that a person would notice. */
  onWait?: ((wait: ProviderWait) => void) | undefined;
  headersTimeoutMs: number;
  idleTimeoutMs: number;
  bounds?: Partial<CompletionBounds> | undefined;
};

/** Bounds of one completion: lengths in UTF-16 units, times in milliseconds. */
export const completionBounds: CompletionBounds = {
  maxEventLength: 1024 * 1024,
  maxTextLength: 50 * 1024 * 1024,
  maxToolCalls: 128,
  maxArgumentLength: 1024 * 1024,
};

const maxRetries = 2;
const firstBackoffMs = 500;
const maxRetryAfterMs = 60_000;
/** Shorter pauses are no worse than a model that thinks. */
const noticeableMs = 2_000;
const maxErrorBytes = 64 * 1024;
const errorBodyMs = 5_000;
// An event of 4 characters of text is some 250 bytes on the wire.
const maxResponseBytes = 2 ** 32;

/** The dialect to begin with for a base URL. */
export function initialDialect(baseUrl: string): ProviderDialect {
  const isOpenAi = URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com';
  return { maxTokensField: isOpenAi ? 'max_completion_tokens' : 'max_tokens', streamOptions: true };
}

/**
 * Asks an OpenAI-style `/chat/completions` and streams the answer into `sink`. Resolves when the answer is complete.
 * Rejects with ApiError (`provider_error` with `details.status`, `provider_unreachable`, `blocked_destination`), whose
 * text never holds what the provider said, or with the signal's reason. What reached the sink before stays valid.
 * Retries 429, 5xx and failed connections at most twice, and only while nothing has reached the sink.
 */
export async function streamChatCompletion(
  options: CompletionOptions,
  sink: CompletionSink,
  signal: AbortSignal,
): Promise<CompletionResult> {
  const bounds = { ...completionBounds, ...options.bounds };
  const watched = watchFirst(sink);
  for (let retries = 0; ; retries++) {
    try {
      return await attempt(options, bounds, watched.sink, signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = asProviderFailure(error);
      if (watched.hasBegun() || retries >= maxRetries || !isRetriable(failure)) throw failure;
      const delay = retryDelayMs(failure, retries, options.random);
      if (delay >= noticeableMs) options.onWait?.(waitOf(failure, options.now() + delay));
      await options.sleep(delay, signal);
    }
  }
}

async function attempt(
  options: CompletionOptions,
  bounds: CompletionBounds,
  sink: CompletionSink,
  signal: AbortSignal,
): Promise<CompletionResult> {
  // Each of the two settings of a dialect can be refused once.
  for (let refusals = 0; ; refusals++) {
    const response = await options.request(providerUrl(options.baseUrl, '/chat/completions'), {
      method: 'POST',
      headers: requestHeaders(options),
      body: requestBody(options),
      signal,
      headersTimeoutMs: options.headersTimeoutMs,
      idleTimeoutMs: options.idleTimeoutMs,
      maxResponseBytes,
    });
    if (response.status >= 200 && response.status < 300) {
      return await readCompletion(response.body, sink, options.createId, bounds, signal);
    }
    const text = await readErrorText(response.body, signal);
    if (refusals < 2 && response.status < 500 && adaptDialect(options.dialect, text)) continue;
    const retryAfter = readRetryAfter(response.headers['retry-after'], options.now());
    throw providerStatusError(response.status, text, retryAfter);
  }
}

function requestHeaders(options: CompletionOptions): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'accept-encoding': 'identity',
    ...providerHeaders({ apiKey: options.apiKey, headers: options.headers ?? {} }),
  };
}

function requestBody(options: CompletionOptions): string {
  const tools = options.tools?.map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
  }));
  const settings = JSON.stringify({
    model: options.modelId,
    stream: true,
    stream_options: options.dialect.streamOptions ? { include_usage: true } : undefined,
    [options.dialect.maxTokensField]: options.maxOutputTokens,
    ...wireParameters(options.parameters ?? {}),
    tools: tools !== undefined && tools.length > 0 ? tools : undefined,
  });
  const messages = JSON.stringify(options.messages).slice(1, -1);
  const all = [options.history ?? '', messages].filter((text) => text !== '').join(',');
  return `${settings.slice(0, -1)},"messages":[${all}]}`;
}

function wireParameters({ temperature, topP, reasoningEffort, verbosity, stop, seed }: Parameters) {
  return { temperature, top_p: topP, reasoning_effort: reasoningEffort, verbosity, stop, seed };
}

/** True when the refusal named a setting that can be left out or renamed; `dialect` is changed then. */
function adaptDialect(dialect: ProviderDialect, refusal: string): boolean {
  if (dialect.maxTokensField === 'max_tokens' && refusal.includes('max_completion_tokens')) {
    dialect.maxTokensField = 'max_completion_tokens';
    return true;
  }
  if (dialect.streamOptions && refusal.includes('stream_options')) {
    dialect.streamOptions = false;
    return true;
  }
  return false;
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

/** Seconds until a retry makes sense, from seconds or an HTTP date (RFC 9110, 10.2.3), at most 60. */
function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.ceil(Math.min(Math.max(ms, 0), maxRetryAfterMs) / 1000);
}

function retryDelayMs(failure: ApiError, retries: number, random: () => number): number {
  const backoff = firstBackoffMs * 2 ** retries * (0.5 + random() / 2);
  return failure.retryAfter === undefined ? backoff : Math.max(failure.retryAfter * 1000, backoff);
}

function waitOf({ details }: ApiError, retryAt: number): ProviderWait {
  const isLimited = isRecord(details) && details.status === 429;
  return { reason: isLimited ? 'rate_limited' : 'unavailable', retryAt: new Date(retryAt).toISOString() };
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
      toolStart(call) {
        begun = true;
        sink.toolStart(call);
      },
      toolDelta: (id, delta) => sink.toolDelta(id, delta),
    },
  };
}
