import type { ProviderReason } from '@homeport/contracts/error-texts/provider-reasons';
import type { ApiError, ErrorCode } from '@homeport/contracts/errors';

/** Errors in the shapes of OpenAI and Anthropic. */

export type ErrorShape = 'openai' | 'anthropic';
type Meaning = { status: number; type: string; code: string | null; anthropic: string };

const badRequest = (code: string | null): Meaning => ({
  status: 400,
  type: 'invalid_request_error',
  code,
  anthropic: 'invalid_request_error',
});
const upstream: Meaning = { status: 502, type: 'api_error', code: 'upstream_error', anthropic: 'api_error' };
const rateLimited: Meaning = {
  status: 429,
  type: 'rate_limit_error',
  code: 'rate_limit_exceeded',
  anthropic: 'rate_limit_error',
};
const unavailable = (code: string): Meaning => ({ status: 503, type: 'api_error', code, anthropic: 'api_error' });
const denied = (status: 401 | 403, code: string): Meaning => ({
  status,
  type: 'invalid_request_error',
  code,
  anthropic: status === 401 ? 'authentication_error' : 'permission_error',
});

/** Codes whose meaning is not simply that of their status. */
const byCode: Partial<Record<ErrorCode, Meaning>> = {
  unauthorized: denied(401, 'invalid_api_key'),
  invalid_credentials: denied(401, 'invalid_api_key'),
  budget_exhausted: { ...rateLimited, type: 'insufficient_quota', code: 'insufficient_quota' },
  rate_limited: rateLimited,
  model_unavailable: badRequest('model_unavailable'),
  answer_too_long: { ...upstream, code: 'answer_too_long' },
  provider_unreachable: upstream,
  provider_error: upstream,
  database_unavailable: unavailable('database_unavailable'),
  maintenance: unavailable('maintenance'),
  storage_full: { ...unavailable('storage_full'), status: 507 },
};

/** Failures of a provider that are about the request, or that pass. */
const byReason: Partial<Record<ProviderReason, Meaning>> = {
  context: badRequest('context_length_exceeded'),
  parameter: badRequest('unsupported_parameter'),
  tools: badRequest('unsupported_parameter'),
  images: badRequest('unsupported_parameter'),
  content_filter: badRequest('content_filter'),
  rate_limit: rateLimited,
  overloaded: { ...unavailable('overloaded'), anthropic: 'overloaded_error' },
  loading: unavailable('loading'),
};

const anthropicByStatus: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** An error in a front protocol's shape, with its status. */
export function frontError(error: ApiError, shape: ErrorShape, requestId: string): { status: number; body: object } {
  const meaning = meaningOf(error);
  const { message } = error;
  if (shape === 'openai') {
    const { type, code } = meaning;
    return { status: meaning.status, body: { error: { message, type, param: paramOf(error), code } } };
  }
  const status = meaning.anthropic === 'overloaded_error' ? 529 : meaning.status;
  const body = { type: 'error', error: { type: meaning.anthropic, message }, request_id: requestId };
  return { status, body };
}

function meaningOf(error: ApiError): Meaning {
  const { code, status, details } = error;
  if (code === 'provider_error' && isRecord(details)) {
    const known = byReason[details.reason as ProviderReason];
    if (known !== undefined) return known;
  }
  const known = byCode[code];
  if (known !== undefined) return known;
  if (code === 'invalid_request') return badRequest(detailOf(error)?.code ?? null);
  if (status === 404) return notFound(detailOf(error)?.code ?? 'not_found');
  const anthropic = anthropicByStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  if (status === 403) return denied(403, code);
  return { status, type: status >= 500 ? 'api_error' : 'invalid_request_error', code, anthropic };
}

function notFound(code: string): Meaning {
  return { status: 404, type: 'invalid_request_error', code, anthropic: 'not_found_error' };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Detail = { path: string; code: string | undefined };

function detailOf({ details }: ApiError): Detail | undefined {
  const first: unknown = Array.isArray(details) ? details[0] : details;
  if (!isRecord(first)) return undefined;
  const { path, code } = first;
  return {
    path: typeof path === 'string' ? path : '',
    code: typeof code === 'string' ? code : undefined,
  };
}

/** The member of the request, as OpenAI names it: `messages[0].content`. */
function paramOf(error: ApiError): string | null {
  const path = detailOf(error)?.path ?? '';
  return path === '' ? null : path.replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]');
}

/** The code of an error inside a response that has begun. */
export function frontErrorCode(error: ApiError): string {
  const { status, code } = meaningOf(error);
  if (code === null || code === 'upstream_error') return status >= 500 ? 'server_error' : 'invalid_prompt';
  return code;
}
