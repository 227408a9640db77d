import { ApiError } from '@homeport/contracts/errors';
import { isOverflow } from './fitting/limits.ts';
import { isRecord } from './storable-text.ts';
import { rememberRefusal } from './streamed-refusals.ts';

const statusMessages: Record<number, string> = {
  400: 'The provider refused the request. Check the model id and the limits set for the model.',
  401: 'The provider refused the API key. Check the API key of the provider.',
  402: 'The provider asks for payment. Check your balance with the provider.',
  403: 'The provider denied access. Check the API key and whether it may use this model.',
  404: 'The provider does not know this address or model. Check the base URL and the model id.',
  405: 'The provider does not accept chat requests at this address. Check the base URL.',
  408: 'The provider took too long to answer. Try again.',
  413: 'The request is too large for the provider. Start a fresh context or send less.',
  422: 'The provider refused the request. Check the model id and the limits set for the model.',
  429: 'The provider is limiting requests. Wait a moment and try again.',
  529: 'The provider is overloaded. Try again in a moment.',
};

const contextMessage =
  "The conversation is too long for the model. Check the model's context window in its settings, or start a fresh context.";

/**
 * The error for an upstream status. `body` is only examined, never quoted: a provider may echo the key.
 * `details.status` is the upstream status; `details.reason` is `context_length` if the prompt was too long.
 */
export function providerStatusError(status: number, body: string, retryAfter?: number): ApiError {
  if ((status === 400 || status === 413 || status === 422 || status === 500) && isOverflow(body)) {
    return new ApiError('provider_error', contextMessage, { details: { status, reason: 'context_length' } });
  }
  return new ApiError('provider_error', statusMessage(status), { details: { status }, retryAfter });
}

/** True for a refusal because the prompt is too long. */
export function isContextRefusal(text: string): boolean {
  return isOverflow(text);
}

/** The error for an `error` member inside a stream that began with status 200. */
export function streamedError(error: unknown): ApiError {
  return rememberRefusal(judgeStreamed(error), isRecord(error) ? JSON.stringify(error) : String(error));
}

function judgeStreamed(error: unknown): ApiError {
  const status = isRecord(error) ? statusOf(error) : undefined;
  if (status !== undefined) {
    const message = isRecord(error) && typeof error.message === 'string' ? error.message : '';
    return providerStatusError(status, message, retryDelayIn(JSON.stringify(error)));
  }
  const text = isRecord(error) ? `${error.code ?? ''} ${error.message ?? ''}` : String(error);
  if (isOverflow(text)) return providerStatusError(400, text);
  return new ApiError('provider_error', 'The provider reported an error while answering. Try again.', {
    details: { status: 200 },
  });
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

/**
 * True for failures after which the same request can be repeated: 429, 5xx and connections that were never established.
 */
export function isRetriable(failure: ApiError): boolean {
  if (failure.code === 'provider_error') {
    const status = isRecord(failure.details) ? failure.details.status : undefined;
    return typeof status === 'number' && (status === 429 || status >= 500);
  }
  if (failure.code !== 'provider_unreachable') return false;
  const network = networkFailure(failure);
  if (network === undefined) return true;
  // If the server closes a kept connection at the same moment, that looks like a reset before the response head.
  return network.phase === 'connect'
    ? network.reason !== 'tls'
    : network.phase === 'request' && network.reason === 'reset';
}

function networkFailure(error: unknown): { reason: unknown; phase: unknown } | undefined {
  if (!(error instanceof ApiError) || error.code !== 'provider_unreachable' || !isRecord(error.details))
    return undefined;
  return { reason: error.details.reason, phase: error.details.phase };
}

/** A 200 response that is not a chat completion. */
export function unreadableAnswer(kind: 'web page' | 'answer'): ApiError {
  const message =
    kind === 'web page'
      ? 'The provider answered with a web page. Check the base URL (it often ends in /v1).'
      : 'The provider sent an unexpected response.';
  return new ApiError('provider_error', message, { details: { status: 200, reason: 'unreadable' } });
}

function statusMessage(status: number): string {
  const known = statusMessages[status];
  if (known !== undefined) return known;
  if (status >= 500) return 'The provider had an internal error. Try again later.';
  if (status >= 300 && status < 400) return 'The provider redirects to another address. Check the base URL.';
  return 'The provider answered with an error. Check the provider and the model.';
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

/** Seconds until a retry makes sense, according to a refusal's text. */
export function retryDelayIn(text: string): number | undefined {
  const found = /"retryDelay"\s?:\s?"(\d{1,6}(?:\.\d{1,9})?)s"|try again in (\d{1,6}(?:\.\d{1,9})?)(m?s)\b/i.exec(text);
  const value = Number(found?.[1] ?? found?.[2]);
  if (Number.isNaN(value)) return undefined;
  return Math.ceil(found?.[3]?.toLowerCase() === 'ms' ? value / 1000 : value);
}
