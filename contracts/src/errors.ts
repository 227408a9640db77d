/** Every machine-readable error code and its HTTP status (control-plane-api.md "Errors", contract.md section 1). */
export const errorStatus = {
  invalid_request: 400,
  blocked_destination: 400,
  model_unavailable: 400,
  invalid_path: 400,
  unauthorized: 401,
  invalid_credentials: 401,
  invalid_api_key: 401,
  forbidden: 403,
  account_disabled: 403,
  setup_claim_mismatch: 403,
  provider_settings_disabled: 403,
  mcp_settings_disabled: 403,
  password_change_required: 403,
  recent_sign_in_required: 403,
  insufficient_scope: 403,
  origin_not_allowed: 403,
  sharing_disabled: 403,
  share_password: 403,
  not_found: 404,
  method_not_allowed: 405,
  id_taken: 409,
  tier_in_use: 409,
  import_source_conflict: 409,
  import_ended: 409,
  setup_closed: 409,
  input_conflict: 409,
  input_applied: 409,
  response_running: 409,
  conversation_archived: 409,
  project_archived: 409,
  last_admin: 409,
  last_sign_in_method: 409,
  email_taken: 409,
  path_taken: 409,
  mcp_tools_changed: 409,
  skill_changed: 409,
  files_changed: 409,
  secrets_found: 409,
  invitation_used: 409,
  credentials_unreadable: 409,
  invitation_expired: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  budget_exhausted: 429,
  internal_error: 500,
  answer_too_long: 502,
  provider_error: 502,
  provider_unreachable: 502,
  mcp_unreachable: 502,
  search_error: 502,
  workspace_request_failed: 502,
  database_unavailable: 503,
  maintenance: 503,
  workspace_disabled: 503,
  workspace_start_timeout: 503,
  storage_full: 507,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** One failed field of a request: `path` is dotted (`users.0.email`). */
export type FieldError = { path: string; message: string };

/** The body of every error response (contract.md section 1). */
export type ErrorBody = {
  error: { message: string; code: ErrorCode; requestId: string; details?: unknown };
};

/**
 * The one error that verbs throw. The code determines the status; `message` is for people and must not contain
 * internals. `cause` is only logged.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: unknown;
  /** Seconds after which a retry makes sense, sent as `retry-after`. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: unknown; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.details = options.details;
    this.retryAfter = options.retryAfter;
  }

  get status(): number {
    return errorStatus[this.code];
  }
}
