import { ApiError } from '@homeport/contracts/errors';
import { isStalePlan } from './statement-names.ts';

/** Classification of errors of the database and its driver. */

/** The typed 503 for an unavailable database. */
export function databaseUnavailable(
  cause?: unknown,
  message = 'The database is unavailable. Try again in a moment.',
): ApiError {
  return new ApiError('database_unavailable', message, { retryAfter: 1, cause });
}

const unavailableStates = new Set(['57P01', '57P02', '57P03', '57P05', '53200', '53300', '25006', '25P03']);
const diskFull = '53100';
/** A statement that timed out, and the loser of a deadlock. */
const unluckyStates = new Set(['57014', '40P01']);
const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Only when connecting: the socket file is missing, its backlog is full, or this process has no descriptors left. */
const connectCodes = new Set(['ENOENT', 'EACCES', 'EAGAIN', 'EMFILE', 'ENFILE', 'ENOBUFS', 'EADDRNOTAVAIL']);
const driverMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'not queryable',
  'Cannot use a pool after calling end on the pool',
  'driver has already been destroyed',
];

/** True if the database has no space left for a write. */
function isStorageFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === diskFull;
}

/** True for an error after which the same write may still succeed; for writes that must not be lost. */
export function mayPass(error: unknown): boolean {
  if (isDatabaseUnavailable(error) || isStorageFull(error)) return true;
  return error instanceof Error && 'code' in error && unluckyStates.has(String(error.code));
}

/** True for an error of the connection rather than the statement: the request can be tried again later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof ApiError) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isDatabaseUnavailable);
  if (isStalePlan(error)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === undefined) return driverMessages.some((message) => error.message.includes(message));
  if (connectCodes.has(code)) return 'syscall' in error && error.syscall === 'connect';
  return unavailableStates.has(code) || code.startsWith('08') || socketCodes.has(code);
}

/** The typed 503 or 507 for an error of the database after which the same may still succeed, undefined for any other. */
export function databaseFailure(error: unknown): ApiError | undefined {
  if (isStorageFull(error)) {
    return new ApiError('storage_full', 'Not saved: the server is out of storage space', { cause: error });
  }
  if (isDatabaseUnavailable(error)) return databaseUnavailable(error);
  if (!mayPass(error)) return undefined;
  return databaseUnavailable(error, 'The database took too long to answer. Try again in a moment.');
}
