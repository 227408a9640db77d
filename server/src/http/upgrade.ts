import { createHash } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { ApiError } from '@homeport/contracts/errors';
import type { Logger } from 'pino';
import { systemClock } from '../platform/clock.ts';
import type { Metrics } from '../platform/metrics.ts';
import { queryObject } from './body/validate.ts';
import { errorResponse, toApiError } from './error-response.ts';
import { type Identify, identifyCaller } from './guard.ts';
import type { Actor } from './handler.ts';
import type { OriginRule } from './origin.ts';
import { requestIdOf } from './request-facts.ts';
import { standardHeaders } from './response.ts';

/** Input of a WebSocket handler: the caller is checked as everywhere under /api. */
export type UpgradeInput = {
  actor: Actor;
  query: Record<string, string>;
  /** Aborted if the client disconnects before it was answered. */
  signal: AbortSignal;
  /** Answers 101; from then on the handler owns the bytes. An error thrown before that is sent as the response. */
  accept(): Duplex;
};

export type UpgradeOptions = {
  path: EndpointSpec['path'];
  identify: Identify;
  origin: OriginRule;
  log: Logger;
  metrics: Pick<Metrics, 'request'>;
  /** Resolves when the connection has ended. */
  handle(input: UpgradeInput): Promise<void>;
};

export type Upgrades = {
  /** Everything except this one address is an ordinary request, whatever it asks for (`shouldUpgradeCallback`). */
  accepts(request: IncomingMessage): boolean;
  /** Listener of the server's `upgrade`. */
  answer(request: IncomingMessage, socket: Duplex, head: Buffer): void;
};

/** One address that is answered with a WebSocket, only for sessions and pages of this installation. */
export function createUpgrades(options: UpgradeOptions): Upgrades {
  return {
    accepts: (request) =>
      request.method === 'GET' &&
      pathOf(request) === options.path &&
      request.headers.upgrade?.toLowerCase() === 'websocket',
    answer: (request, socket, head) => void answer(request, socket, head, options),
  };
}

async function answer(request: IncomingMessage, socket: Duplex, head: Buffer, options: UpgradeOptions): Promise<void> {
  const startedAt = systemClock.elapsed();
  const requestId = requestIdOf(request);
  const { path, log } = options;
  const left = new AbortController();
  const leave = () => {
    left.abort(new ApiError('invalid_request', 'The client closed the connection'));
    socket.destroy();
  };
  let actor: Actor | undefined;
  let isAccepted = false;
  const record = (status: number, code?: string) => {
    const seconds = (systemClock.elapsed() - startedAt) / 1000;
    options.metrics.request('GET', path, status, seconds);
    const line = { requestId, method: 'GET', path, status, userId: actor?.id, code };
    log.info({ ...line, milliseconds: Math.round(seconds * 1000) }, 'request');
  };
  // Without a listener, errors would end the process.
  socket.on('error', () => socket.destroy());
  socket.once('close', leave).once('end', leave);
  // The client must not send data before the response; reading also reports a disconnect.
  socket.once('data', leave);
  if (head.length > 0) return leave();
  try {
    const caller = await identifyCaller(
      'session',
      // A terminal is for people: no token opens one.
      { ...options, identifyToken: async () => undefined, identifyWorkspace: async () => undefined },
      { incoming: request, address: '', requestId },
      { method: 'GET', path },
    );
    if (caller === undefined) throw new ApiError('unauthorized', 'Sign in first');
    actor = caller.actor;
    assertOwnPage(options.origin, request);
    const accepted = acceptKey(request);
    const accept = (): Duplex => {
      left.signal.throwIfAborted();
      isAccepted = true;
      socket.off('data', leave).off('end', leave).off('close', leave);
      socket.pause();
      socket.write(switching(requestId, accepted, caller.setCookie));
      record(101);
      return socket;
    };
    await options.handle({ actor, query: queryOf(request), signal: left.signal, accept });
  } catch (error) {
    if (isAccepted || socket.destroyed) {
      if (toApiError(error).code === 'internal_error') log.error({ cause: error, requestId }, 'connection failed');
      socket.destroy();
      return;
    }
    const failure = toApiError(error);
    if (failure.code === 'internal_error') log.error({ cause: failure.cause, requestId }, 'request failed');
    record(failure.status, failure.code);
    refuse(socket, failure, requestId);
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? '';
}

function queryOf(request: IncomingMessage): Record<string, string> {
  return queryObject(new URLSearchParams((request.url ?? '').slice(pathOf(request).length + 1)));
}

/**
 * Browsers name the page on every upgrade, but have no rule of their own that keeps foreign pages away: without a name,
 * it is refused.
 */
function assertOwnPage(rule: OriginRule, { headers }: IncomingMessage): void {
  if (headers.origin !== undefined && rule(headers.origin, headers.host)) return;
  throw new ApiError(
    'origin_not_allowed',
    'This request comes from another origin. If this is your address, set BASE_URL to it.',
  );
}

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Proves that this handshake was understood (RFC 6455, section 4.2.2). */
function acceptKey({ headers }: IncomingMessage): string {
  const key = headers['sec-websocket-key'];
  if (typeof key !== 'string' || !/^[A-Za-z0-9+/]{21}[AQgw]==$/.test(key)) {
    throw new ApiError('invalid_request', 'The header sec-websocket-key is not valid');
  }
  if (headers['sec-websocket-version'] !== '13') {
    throw new ApiError('invalid_request', 'The header sec-websocket-version must be 13');
  }
  return createHash('sha1')
    .update(key + guid)
    .digest('base64');
}

function switching(requestId: string, accepted: string, setCookie: string | undefined): string {
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${accepted}`,
    `x-request-id: ${requestId}`,
    ...(setCookie === undefined ? [] : [`set-cookie: ${setCookie}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function refuse(socket: Duplex, failure: ApiError, requestId: string): void {
  const answer = errorResponse(failure, requestId, { ...standardHeaders(requestId), connection: 'close' });
  const body = String(answer.body);
  const headers = { ...answer.headers, 'content-length': Buffer.byteLength(body) };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const text = `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\n${head.join('\r\n')}\r\n\r\n${body}`;
  // A client that does not close its half cannot keep the socket open.
  socket.end(text, () => socket.destroy());
}
