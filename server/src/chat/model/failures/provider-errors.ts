import { providerEnglish } from '@homeport/contracts/error-texts/provider-english';
import type { ProviderErrorDetails } from '@homeport/contracts/error-texts/provider-reasons';
import { wordError } from '@homeport/contracts/error-texts/word-error';
import { ApiError } from '@homeport/contracts/errors';
import { failureDetails } from '../../../egress/failures.ts';
import { firstSentence, withoutSecrets } from '../provider-message.ts';
import { isRecord } from '../stream/storable-text.ts';
import { type FailureFacts, factsOf, readFailureFacts } from './failure-facts.ts';
import { judgeFailure } from './failure-rules.ts';
import { maxRetryDelaySeconds, retryDelayIn } from './retry-delay.ts';
import { rememberRefusal } from './streamed-refusals.ts';

/**
 * The error for an upstream status, with the reason that its body states. The message never quotes the body;
 * `details.providerMessage` has its first sentence, without anything that looks like a key.
 */
export function providerStatusError(status: number, body: string, retryAfter?: number): ApiError {
  return failureOf(status, readFailureFacts(body), retryAfter);
}

function failureOf(status: number, facts: FailureFacts, retryAfter?: number): ApiError {
  const { reason, values } = judgeFailure(status, facts);
  const providerMessage = firstSentence(facts.message);
  return providerFailure(
    { status, reason, values, ...(providerMessage === undefined ? {} : { providerMessage }) },
    retryAfter,
  );
}

/** A `provider_error` with these details, in English words made from them. */
export function providerFailure(details: ProviderErrorDetails, retryAfter?: number, cause?: unknown): ApiError {
  return new ApiError(
    'provider_error',
    wordError(providerEnglish, 'provider_error', details) ?? providerEnglish.provider_error,
    {
      details,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

/** The error for an `error` member inside a stream that began with status 200. */
export function streamedError(error: unknown): ApiError {
  const facts = factsOf(error);
  const status = (isRecord(error) ? statusOf(error) : undefined) ?? 200;
  const text = isRecord(error) ? JSON.stringify(error) : String(error ?? '');
  return rememberRefusal(failureOf(status, facts, retryDelayIn(text)), text);
}

/**
 * The connection ended before the answer did; `cause` can be an error of the outbound guard, which gives the reason.
 */
export function droppedConnection(cause?: unknown): ApiError {
  const reason = networkFailure(cause)?.reason ?? 'reset';
  const message =
    reason === 'timeout'
      ? 'The provider stopped sending before the answer was complete. Try again.'
      : 'The connection to the provider broke before the answer was complete. Try again.';
  return new ApiError('provider_unreachable', message, { details: { reason, phase: 'response' }, cause });
}

/** Reasons that a later attempt can't change. A loading model and a busy server can recover. */
const lasting: ReadonlySet<unknown> = new Set([
  ...['quota', 'credit', 'key', 'content_filter', 'certificate', 'protocol', 'context', 'parameter', 'tools'],
  'images',
]);
const passing: ReadonlySet<unknown> = new Set(['overloaded', 'rate_limit', 'loading']);

/**
 * True for failures after which the same request can be repeated soon: limits, overload, 5xx and connections that were
 * never established. A provider that asks for more than a minute is not asked again.
 */
export function isRetriable(failure: ApiError): boolean {
  if ((failure.retryAfter ?? 0) > maxRetryDelaySeconds) return false;
  if (failure.code === 'provider_error') {
    const { status, reason } = isRecord(failure.details) ? failure.details : {};
    if (lasting.has(reason)) return false;
    return passing.has(reason) || (typeof status === 'number' && status >= 500);
  }
  if (failure.code !== 'provider_unreachable') return false;
  const network = networkFailure(failure);
  if (network === undefined) return true;
  // If the server closes a kept connection at the same moment, that looks like a reset before the response head.
  return network.phase === 'connect'
    ? network.reason !== 'tls'
    : network.phase === 'request' && network.reason === 'reset';
}

/** True while the provider's server reports that it is loading the model. */
export function isLoading(failure: ApiError): boolean {
  return isRecord(failure.details) && failure.details.reason === 'loading';
}

/**
 * A failure as a person gets it: with the time of the next possible attempt, and without `secrets`. An untrusted
 * certificate is an error of the provider, not of the network.
 */
export function finalFailure(failure: ApiError, now: number, secrets: readonly string[]): ApiError {
  const untrusted = failureDetails(failure)?.certificate;
  if (untrusted !== undefined) {
    return providerFailure({ reason: 'certificate', values: { problem: untrusted } }, undefined, failure.cause);
  }
  return withoutSecrets(withRetryTime(failure, now), secrets);
}

function withRetryTime(failure: ApiError, now: number): ApiError {
  const { code, details, retryAfter } = failure;
  if (code !== 'provider_error' || retryAfter === undefined || !isProviderDetails(details)) return failure;
  if (details.values.retryAt !== undefined || !(passing.has(details.reason) || details.reason === 'quota')) {
    return failure;
  }
  const values = { ...details.values, retryAt: new Date(now + retryAfter * 1000).toISOString() };
  return providerFailure({ ...details, values }, retryAfter, failure.cause);
}

function isProviderDetails(details: unknown): details is ProviderErrorDetails {
  return isRecord(details) && typeof details.reason === 'string' && isRecord(details.values);
}

function networkFailure(error: unknown): { reason: unknown; phase: unknown } | undefined {
  if (!(error instanceof ApiError) || error.code !== 'provider_unreachable' || !isRecord(error.details))
    return undefined;
  return { reason: error.details.reason, phase: error.details.phase };
}

/** A 200 response that is not an answer. */
export function unreadableAnswer(kind: 'web page' | 'answer'): ApiError {
  const problem = kind === 'web page' ? 'web_page' : 'unreadable';
  return providerFailure({
    status: 200,
    reason: kind === 'web page' ? 'protocol' : 'other',
    values: { problem },
  });
}

function statusOf(error: Record<string, unknown>): number | undefined {
  for (const value of [error.code, error.status, error.status_code]) {
    const status = typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : value;
    if (typeof status === 'number' && status >= 400 && status <= 599) return status;
  }
  for (const word of [error.code, error.type, error.status]) {
    const status = typeof word === 'string' ? statusWords[word] : undefined;
    if (status !== undefined) return status;
  }
  return undefined;
}

/** Error types that providers send in a stream, by the equivalent status. */
const statusWords: Record<string, number> = {
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  insufficient_quota: 402,
  permission_error: 403,
  PERMISSION_DENIED: 403,
  not_found_error: 404,
  NOT_FOUND: 404,
  request_too_large: 413,
  invalid_request_error: 400,
  invalid_prompt: 400,
  INVALID_ARGUMENT: 400,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  RESOURCE_EXHAUSTED: 429,
  api_error: 500,
  INTERNAL: 500,
  server_error: 503,
  UNAVAILABLE: 503,
  timeout_error: 504,
  DEADLINE_EXCEEDED: 504,
  overloaded_error: 529,
};
