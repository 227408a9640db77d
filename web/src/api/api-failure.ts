import { type ErrorBody, type ErrorCode, errorStatus } from '@homeport/contracts/errors';

/** `network`: no response arrived, so the outcome is unknown. `unreadable`: the response is not in the API's format. */
export type FailureCode = ErrorCode | 'network' | 'unreadable';

/** Error thrown by every failed call. `message` is the server's text for people. */
export class ApiFailure extends Error {
  readonly code: FailureCode;
  readonly status: number;
  readonly details: unknown;
  readonly requestId: string | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor(
    code: FailureCode,
    message: string,
    options: { status?: number; details?: unknown; requestId?: string; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiFailure';
    this.code = code;
    this.status = options.status ?? 0;
    this.details = options.details;
    this.requestId = options.requestId;
    this.retryAfter = options.retryAfter;
  }

  /** True if the server itself refused, so the request had no effect. A 5xx error may come after a commit. */
  get isRefusal(): boolean {
    return this.status >= 400 && this.status < 500 && this.code !== 'unreadable';
  }

  /** The origin that stored credentials belong to, if they were not sent because the address has another origin. */
  get credentialsOrigin(): string | undefined {
    if (this.code !== 'credentials_unreadable' || typeof this.details !== 'object' || this.details === null)
      return undefined;
    const origin: unknown = Reflect.get(this.details, 'origin');
    return typeof origin === 'string' ? origin : undefined;
  }
}

/** Turns an error response into an `ApiFailure`; anything that is not our error shape is `unreadable`. */
export function readFailure(status: number, headers: Headers, body: string): ApiFailure {
  const requestId = headers.get('x-request-id') ?? undefined;
  const retry = Number(headers.get('retry-after'));
  const retryAfter = Number.isFinite(retry) && retry > 0 ? retry : undefined;
  const error = parseErrorBody(body);
  if (!error) return new ApiFailure('unreadable', '', { status, requestId, retryAfter });
  return new ApiFailure(error.code, error.message, { status, details: error.details, requestId, retryAfter });
}

function parseErrorBody(body: string): ErrorBody['error'] | undefined {
  try {
    const value: { error?: { code?: unknown; message?: unknown } } | null = JSON.parse(body);
    const error = value?.error;
    if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined;
    return Object.hasOwn(errorStatus, error.code) ? (error as ErrorBody['error']) : undefined;
  } catch {
    return undefined;
  }
}
