import type { DaemonErrorCode } from '@homeport/contracts/daemon';

/** The statuses of contracts/src/daemon.ts, written again because schemas would cost the idle daemon a third of its memory. */
export const statusOf: Record<DaemonErrorCode, number> = {
  invalid_request: 400,
  invalid_path: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  path_taken: 409,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  unsupported_media_type: 415,
  busy: 429,
  internal_error: 500,
  storage_full: 507,
};

/** A refusal with words for whoever asked; never the system's own error texts, which name descriptors. */
export class DaemonError extends Error {
  readonly code: DaemonErrorCode;
  readonly headers: Record<string, string>;

  constructor(code: DaemonErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}
