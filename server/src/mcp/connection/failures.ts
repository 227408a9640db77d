import { ApiError } from '@homeport/contracts/errors';
import { failureDetails } from '../../egress/failures.ts';
import { parseForeignJson } from '../../platform/json/json-scan.ts';
import { mcpBounds } from '../bounds.ts';
import { BadDefinitions } from '../fingerprint.ts';
import { BrokenBound, RefusedAccess, RefusedRedirect } from './guarded-transport.ts';
import { noAnswer } from './message-rules.ts';

/** The error for an unusable MCP server: a refusal by the guard stays one, everything else is `mcp_unreachable`. */
export function mcpFailure(error: unknown): ApiError {
  for (const cause of chainOf(error)) {
    if (cause instanceof ApiError) return ofApiError(cause);
    if (cause instanceof BadDefinitions)
      return unreachable('definitions', `its tools cannot be used: ${cause.message}`);
    if (cause instanceof RefusedAccess && cause.challenge !== undefined) return ofChallenge(cause);
    if (cause instanceof RefusedRedirect) return unreachable('redirect', cause.message);
    if (cause instanceof BrokenBound) return unreachable('too_large', cause.message);
    const status = httpStatusOf(cause);
    if (status !== undefined) return ofStatus(status);
    if (codeOf(cause) === 'REQUEST_TIMEOUT' || cause.name === 'TimeoutError') {
      return unreachable('timeout', 'it did not answer in time');
    }
    const elsewhere = otherOrigin.exec(cause.message)?.[1];
    if (elsewhere !== undefined) return unreachable('endpoint', foreignEndpoint(elsewhere));
  }
  return unreachable('protocol', 'its response was not that of an MCP server');
}

/** The library's words for an endpoint of the older transport at another origin. */
const otherOrigin = /^Endpoint origin does not match connection origin: (\S{1,300})$/;

function foreignEndpoint(origin: string): string {
  return `it asks for messages to ${origin}, another origin than its own; if it runs behind a proxy, set its public address in its configuration`;
}

/** The failure of a program that has written something else than messages, and has not answered in time. */
export function wroteOtherwise(words: string): ApiError {
  return unreachable('timeout', `it did not answer in time; instead of a message it wrote “${words}”`);
}

/** The refusal inside an error that signing in, or signing in for more, would have prevented. */
export function refusedAccess(error: unknown): RefusedAccess | undefined {
  for (const cause of chainOf(error)) {
    if (cause instanceof RefusedAccess && cause.challenge !== undefined) return cause;
  }
  return undefined;
}

/** True if the older handshake may work: the server was reached and did not refuse access. */
export function isWorthAnOlderHandshake(error: unknown): boolean {
  return ['timeout', 'protocol', 'status'].includes(reasonOf(error));
}

/** Statuses of servers that don't have the newer transport at this address (MCP 2025-11-25, "Backwards Compatibility"). */
const olderTransportStatuses: readonly number[] = [400, 404, 405];

/** True if the older transport may work at the same address. */
export function isWorthTheOlderTransport(error: unknown): boolean {
  return [...chainOf(error)].some((cause) => olderTransportStatuses.includes(httpStatusOf(cause) ?? 0));
}

export function isTimeout(error: unknown): boolean {
  return reasonOf(error) === 'timeout';
}

/** The `details.reason` of the failure this error means. */
function reasonOf(error: unknown): string {
  const { details } = mcpFailure(error);
  return isRecord(details) && typeof details.reason === 'string' ? details.reason : '';
}

/** Statuses with which servers refuse a session that they no longer have. */
const sessionStatuses: readonly number[] = [400, 401, 404, 409];

/** True if the session or connection is gone, so that a new one may work. */
export function isLostSession(error: unknown): boolean {
  return [...chainOf(error)].some((cause) => {
    // Signing in would help, a new session would not.
    if (cause instanceof RefusedAccess && cause.challenge !== undefined) return false;
    const status = httpStatusOf(cause);
    if (status !== undefined) return sessionStatuses.includes(status);
    return codeOf(cause) === 'CONNECTION_CLOSED' || codeOf(cause) === 'NOT_CONNECTED';
  });
}

/**
 * The server's own text in a JSON-RPC error of any code, with its `data`, bounded; also in the body of an HTTP error.
 * Undefined for any other error.
 */
export function serverWords(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const said = isJsonRpcError(error) ? error : errorInBody(error);
  if (said === undefined || said.message === '' || codeOf(error) === noAnswer) return undefined;
  const data = 'data' in said ? textOfData(said.data) : '';
  return `${said.message}${data === '' ? '' : ` ${data}`}`.slice(0, mcpBounds.errorText);
}

/** The JSON-RPC error that the library leaves unread in the body of an HTTP error. */
function errorInBody(error: Error): { message: string; data?: unknown } | undefined {
  const { data } = error as { data?: unknown };
  if (!isRecord(data) || typeof data.text !== 'string') return undefined;
  try {
    const body: unknown = parseForeignJson(data.text);
    const said = isRecord(body) && body.jsonrpc === '2.0' && isRecord(body.error) ? body.error : undefined;
    return typeof said?.message === 'string' ? { message: said.message, data: said.data } : undefined;
  } catch {
    return undefined;
  }
}

function isJsonRpcError(error: Error): boolean {
  return error.name === 'ProtocolError' && typeof codeOf(error) === 'number';
}

function textOfData(data: unknown): string {
  if (data === undefined || data === null) return '';
  return typeof data === 'string' ? data : JSON.stringify(data);
}

function ofApiError(error: ApiError): ApiError {
  if (error.code !== 'provider_unreachable') return error;
  const { reason = 'network', certificate } = failureDetails(error) ?? {};
  const text = /: ([^:]*)\.$/.exec(error.message)?.[1] ?? 'it did not answer';
  return unreachable(reason, text, certificate === undefined ? {} : { certificate });
}

function ofChallenge(cause: RefusedAccess): ApiError {
  const [reason, text] =
    cause.status === 403
      ? ['more_access', 'it wants more access than you gave it; sign in again']
      : ['sign_in_needed', 'it asks you to sign in'];
  return new ApiError('mcp_unreachable', `The MCP server could not be used: ${text}.`, { details: { reason }, cause });
}

function ofStatus(status: number): ApiError {
  if (status === 401 || status === 403) {
    return unreachable('access', `it refused access (HTTP ${status}); check the headers`);
  }
  if (status < 400) return unreachable('redirect', 'it redirected in a way that is not followed');
  const hint = status === 404 || status === 405 ? '; check its path, which often ends with /mcp or /sse' : '';
  return unreachable('status', `it answered HTTP ${status}${hint}`);
}

function unreachable(reason: string, text: string, more: object = {}): ApiError {
  const details = { reason, ...more };
  return new ApiError('mcp_unreachable', `The MCP server could not be used: ${text}.`, { details });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function* chainOf(error: unknown): Generator<Error> {
  let current: unknown = error;
  for (let depth = 0; depth < 6 && current instanceof Error; depth += 1) {
    yield current;
    current = current.cause;
  }
}

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined;
}

/** The status of the library's HTTP errors, including those of its SSE transport. */
function httpStatusOf(error: Error): number | undefined {
  if (isJsonRpcError(error)) return undefined;
  if ('status' in error && typeof error.status === 'number') return error.status;
  const code = codeOf(error);
  return typeof code === 'number' && code >= 300 && code < 600 ? code : undefined;
}
