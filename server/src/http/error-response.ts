import { ApiError, type ErrorBody } from '@homeport/contracts/errors';
import { databaseFailure } from '../db/failures.ts';
import { type ErrorShape, frontError } from '../platform/front-errors.ts';
import type { HttpResponse } from './response.ts';

/**
 * How an error is answered: known ones as they are, an unavailable database as 503, a full one as 507, anything else as
 * a fixed 500.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return (
    databaseFailure(error) ?? new ApiError('internal_error', 'Something went wrong on the server', { cause: error })
  );
}

/** Renders the one error shape (contract.md section 1), or that of a front protocol. */
export function errorResponse(
  error: ApiError,
  requestId: string,
  headers: Record<string, string>,
  shape?: ErrorShape,
): HttpResponse {
  const { retryAfter } = error;
  const extra: Record<string, string> =
    retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) };
  if (shape !== undefined) {
    const { status, body } = frontError(error, shape, requestId);
    return { status, headers: { ...headers, ...extra }, body: JSON.stringify(body) };
  }
  const body: ErrorBody = { error: { message: error.message, code: error.code, requestId } };
  if (error.details !== undefined) body.error.details = error.details;
  return { status: error.status, headers: { ...headers, ...extra }, body: JSON.stringify(body) };
}
