import { type ErrorBody, type ErrorCode, errorStatus } from '@homeport/contracts/errors';
import { type ProxyFailureCode, type ProxyFault, proxyFailureCode, readProxyFault } from './proxy-fault.ts';

/**
 * `network`: no response arrived, so the outcome is unknown. `unreadable`: the response is not in the API's format.
 * `proxy_…`: a proxy in front of the server answered.
 */
export type FailureCode = ErrorCode | 'network' | 'unreadable' | ProxyFailureCode;

/** Error thrown by every failed call. `message` is the server's text for people. */
export class ApiFailure extends Error {
  readonly code: FailureCode;
  readonly status: number;
  readonly details: unknown;
  readonly requestId: string | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  readonly proxy: ProxyFault | undefined;

  constructor(
    code: FailureCode,
    message: string,
    options: {
      status?: number;
      details?: unknown;
      requestId?: string;
      retryAfter?: number;
      proxy?: ProxyFault;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiFailure';
    this.code = code;
    this.status = options.status ?? 0;
    this.details = options.details;
    this.requestId = options.requestId;
    this.retryAfter = options.retryAfter;
    this.proxy = options.proxy;
  }

  /**
   * True if the request was refused, so it had no effect. A 5xx error may come after a commit, and after signing in at a
   * proxy the same request can pass.
   */
  get isRefusal(): boolean {
    const isOpen = this.code === 'unreadable' || this.code === 'proxy_sign_in' || this.code === 'proxy_failed';
    return this.status >= 400 && this.status < 500 && !isOpen;
  }

  /** The origin that stored credentials belong to, if they were not sent because the address has another origin. */
  get credentialsOrigin(): string | undefined {
    if (this.code !== 'credentials_unreadable' || typeof this.details !== 'object' || this.details === null)
      return undefined;
    const origin: unknown = Reflect.get(this.details, 'origin');
    return typeof origin === 'string' ? origin : undefined;
  }
}

/**
 * Turns an error response into an `ApiFailure`. An error that is not of our shape comes from a proxy; `bytes` is the size
 * of the request. Anything else is `unreadable`.
 */
export function readFailure(status: number, headers: Headers, body: string, bytes?: number): ApiFailure {
  const requestId = headers.get('x-request-id') ?? undefined;
  const retry = Number(headers.get('retry-after'));
  const retryAfter = Number.isFinite(retry) && retry > 0 ? retry : undefined;
  const error = parseErrorBody(body);
  if (!error && status >= 400) {
    const proxy = readProxyFault(headers, body, bytes);
    return new ApiFailure(proxyFailureCode(status), '', { status, requestId, retryAfter, proxy });
  }
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
