import { ApiError } from '@homeport/contracts/errors';

/** Cause of a failed search, as `details.reason` of `search_error` (contract.md section 12, "Web"). */
export type SearchReason = 'format' | 'key' | 'quota' | 'protocol' | 'unreachable';

const messages: Record<SearchReason, string> = {
  format: 'SearXNG does not allow JSON. Add "json" to search.formats in its settings.yml and restart it.',
  key: 'The search service refused the API key.',
  quota: 'The search service allows no more searches for now.',
  protocol: 'The response is not one of this search service.',
  unreachable: 'The search service cannot be reached.',
};

/** A failed search, without any text of the service. `retryAfter` is in seconds. */
export function searchError(
  reason: SearchReason,
  options: { status?: number; retryAfter?: number; now?: number; cause?: unknown } = {},
): ApiError {
  const { status, retryAfter, now = 0, cause } = options;
  const values = retryAfter === undefined ? {} : { retryAt: new Date(now + retryAfter * 1000).toISOString() };
  const wait = retryAfter === undefined ? '' : ` Try again in ${retryAfter} seconds.`;
  return new ApiError('search_error', `${messages[reason]}${wait}`, {
    details: { reason, ...(status === undefined ? {} : { status }), values },
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(cause === undefined ? {} : { cause }),
  });
}
