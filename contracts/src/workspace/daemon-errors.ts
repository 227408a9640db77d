/**
 * The codes of a daemon's errors and their statuses. No schemas here: they would cost the idle daemon a third of its
 * memory.
 */
export const daemonErrorStatus = {
  invalid_request: 400,
  invalid_path: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  path_taken: 409,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  unsupported_media_type: 415,
  /** Too many processes or terminals. */
  busy: 429,
  internal_error: 500,
  storage_full: 507,
} as const;
export type DaemonErrorCode = keyof typeof daemonErrorStatus;
