import type { StandInReason } from '@homeport/contracts/catalogue/catalogue';
import type { ApiError } from '@homeport/contracts/errors';
import { isRecord } from '../stream/storable-text.ts';

/** Statuses below 500 that don't blame the request. 200: an unreadable answer, or an error inside a stream. */
const switching: ReadonlySet<number> = new Set([200, 401, 402, 403, 404, 408, 410, 429]);
/** Refusals of the request itself, whatever their status. */
const blaming: ReadonlySet<unknown> = new Set(['content_filter', 'context', 'parameter', 'tools', 'images']);

/**
 * Why another model should answer instead of the one that failed like this; undefined if the failure is the request's,
 * so that another model would fail as well (contract.md section 12 "Stand-ins").
 */
export function standInReasonOf({ code, details }: ApiError): StandInReason | undefined {
  if (code === 'provider_unreachable') return 'unreachable';
  if (code !== 'provider_error' || !isRecord(details)) return undefined;
  const { reason } = details;
  if (reason === 'certificate') return 'unreachable';
  const status = typeof details.status === 'number' ? details.status : 200;
  if (status < 500 && (!switching.has(status) || blaming.has(reason))) return undefined;
  if (reason === 'content_filter') return undefined;
  if (status === 429 || reason === 'rate_limit') return 'rate_limit';
  return status === 503 || status === 529 || reason === 'overloaded' || reason === 'loading' ? 'overloaded' : 'error';
}

/** True for failures of the server as a whole: not of a key, a quota or one model. */
export function isOutage({ code, details }: ApiError): boolean {
  if (code === 'provider_unreachable') return true;
  if (code !== 'provider_error' || !isRecord(details)) return false;
  const { status, reason } = details;
  return typeof status === 'number' && status >= 500 && reason !== 'loading' && !blaming.has(reason);
}
