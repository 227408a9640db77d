import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../platform/clock.ts';
import { decodeBody, isDecodable } from './decoded-body.ts';
import { hostOf } from './destination.ts';
import { type FailurePhase, reasonOf, unreachable } from './failures.ts';
import type { Guard } from './guard.ts';
import { framingHeaders } from './headers.ts';
import { type Hop, isRedirect, nextHop } from './redirects.ts';
import { type EgressBody, ResponseBody } from './response-body.ts';

/**
 * One call. Every header except accept, content-type and user-agent is a secret of the first origin. Times in
 * milliseconds.
 */
export type EgressInit = {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  signal: AbortSignal;
  /** Name lookup, connection and TLS handshake; default 10 s, at most 30 s. */
  connectTimeoutMs?: number;
  /** From the connection to the response head, whatever trickles in between; default 2 min. */
  headersTimeoutMs?: number;
  /** From the connection to the first byte of the body; by default only the two other times count. */
  firstByteTimeoutMs?: number | undefined;
  /** Between two chunks of the body; default 2 min. */
  idleTimeoutMs?: number;
  /** From the call to the last byte of the body, including redirects; default 1 h. */
  totalTimeoutMs?: number;
  /** Default 64 MiB. */
  maxResponseBytes?: number;
  /** Decodes a body that is compressed although that was not requested; otherwise it is a failure. */
  decodes?: boolean;
  /** Default 5; 0 returns a redirect to the caller. */
  maxRedirects?: number;
};

/**
 * `headers` has lower-case names; repeated ones are joined by ", " (set-cookie: see `setCookies`). `url` is that of the
 * last hop.
 */
export type EgressResponse = {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  setCookies: string[];
  url: string;
  redirected: boolean;
  body: EgressBody;
};

export type HttpClient = {
  request(url: string, init: EgressInit): Promise<EgressResponse>;
  close(): void;
};

type Limits = Required<Omit<EgressInit, 'method' | 'headers' | 'body' | 'signal' | 'firstByteTimeoutMs'>> & {
  firstByteTimeoutMs: number | undefined;
};
type Agents = { http: http.Agent; https: https.Agent };

const defaults: Limits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 120_000,
  firstByteTimeoutMs: undefined,
  idleTimeoutMs: 120_000,
  totalTimeoutMs: 3_600_000,
  maxResponseBytes: 64 * 1024 * 1024,
  decodes: false,
  maxRedirects: 5,
};
const maxHeaderBytes = 32 * 1024;
// Shorter than the idle time of common servers, so that a request rarely meets a closing connection.
const keepAliveMs = 4_000;

/** Node's own HTTP client on guarded connections: of the clients measured, the one with the least work per chunk. */
export function createHttpClient(guard: Guard): HttpClient {
  const agents = createAgents(guard);
  return {
    async request(raw, init) {
      const limits = { ...defaults, ...withoutUndefined(init) };
      const deadline = systemClock.elapsed() + limits.totalTimeoutMs;
      let hop = firstHop(guard.check(raw), init);
      for (let redirects = 0; ; redirects += 1) {
        init.signal.throwIfAborted();
        const response = await exchange(agents, hop, limits, deadline, init.signal);
        const location = response.headers.location;
        if (limits.maxRedirects === 0 || !isRedirect(response.status, location)) {
          return { ...response, body: plainBody(response, limits), redirected: redirects > 0 };
        }
        response.body.destroy();
        if (redirects === limits.maxRedirects) throw unreachable('redirect', 'response');
        hop = nextHop(guard, hop, response.status, location);
      }
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function createAgents(guard: Guard): Agents {
  const options = { keepAlive: true, timeout: keepAliveMs, maxFreeSockets: 16, scheduling: 'lifo' as const };
  const agents = { http: new http.Agent(options), https: new https.Agent(options) };
  const connect =
    (secure: boolean) => (to: http.ClientRequestArgs, done?: (error: Error | null, socket: Duplex) => void) => {
      guard.openSocket({ secure, hostname: to.host ?? '', port: Number(to.port) }, (error, socket) => {
        // With an error Node ignores the socket, but its type requires one.
        done?.(error, socket ?? new net.Socket());
      });
      return null;
    };
  agents.http.createConnection = connect(false);
  agents.https.createConnection = connect(true);
  return agents;
}

function firstHop(url: URL, init: EgressInit): Hop {
  const headers = Object.entries(init.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const method = init.method ?? (init.body === undefined ? 'GET' : 'POST');
  return { url, method, headers: Object.fromEntries(headers), body: init.body };
}

function exchange(
  agents: Agents,
  hop: Hop,
  limits: Limits,
  deadline: number,
  signal: AbortSignal,
): Promise<Omit<EgressResponse, 'redirected'>> {
  const { promise, resolve, reject } = Promise.withResolvers<Omit<EgressResponse, 'redirected'>>();
  let phase: FailurePhase = 'connect';
  let body: ResponseBody | undefined;
  let connectedAt = systemClock.elapsed();
  const request = startRequest(agents, hop);

  const release = () => {
    phaseTimer.stop();
    totalTimer.stop();
    signal.removeEventListener('abort', onAbort);
  };
  const fail = (error: unknown) => {
    if (body !== undefined) return body.fail(error);
    release();
    reject(error);
    request.destroy();
  };
  const onTimeout = () => fail(unreachable('timeout', phase));
  const onAbort = () => fail(signal.reason);
  let phaseTimer = systemClock.after(limits.connectTimeoutMs, onTimeout);
  const totalTimer = systemClock.after(Math.max(0, deadline - systemClock.elapsed()), onTimeout);
  signal.addEventListener('abort', onAbort, { once: true });

  request.on('socket', () => {
    if (phase !== 'connect') return;
    phase = 'request';
    phaseTimer.stop();
    connectedAt = systemClock.elapsed();
    phaseTimer = systemClock.after(limits.headersTimeoutMs, onTimeout);
  });
  request.on('error', (error) => fail(error instanceof ApiError ? error : unreachable(reasonOf(error), phase, error)));
  request.on('close', () => {
    if (body === undefined) fail(unreachable('reset', phase));
  });
  request.on('response', (message) => {
    phase = 'response';
    phaseTimer.stop();
    const { firstByteTimeoutMs: firstMs } = limits;
    const firstByteBy = firstMs === undefined ? undefined : connectedAt + firstMs;
    body = new ResponseBody(message, { ...limits, firstByteBy }, release);
    resolve({
      status: message.statusCode ?? 0,
      statusText: message.statusMessage ?? '',
      headers: joinHeaders(message.headers),
      setCookies: message.headers['set-cookie'] ?? [],
      url: hop.url.href,
      body,
    });
  });
  return promise;
}

function startRequest(agents: Agents, hop: Hop): http.ClientRequest {
  const secure = hop.url.protocol === 'https:';
  const bytes = typeof hop.body === 'string' ? Buffer.from(hop.body, 'utf8') : hop.body;
  const headers: Record<string, string> = { host: hop.url.host, 'accept-encoding': 'identity' };
  if (bytes !== undefined) headers['content-length'] = String(bytes.length);
  for (const [name, value] of Object.entries(hop.headers)) {
    if (!framingHeaders.has(name)) headers[name] = value;
  }
  try {
    const request = (secure ? https : http).request({
      agent: secure ? agents.https : agents.http,
      method: hop.method,
      host: hostOf(hop.url.hostname),
      port: hop.url.port === '' ? (secure ? 443 : 80) : Number(hop.url.port),
      path: hop.url.pathname + hop.url.search,
      headers,
      setHost: false,
      // The agent's time-out is for idle connections and would be renewed at every chunk; our limits are above.
      timeout: 0,
      maxHeaderSize: maxHeaderBytes,
    });
    request.end(bytes);
    return request;
  } catch {
    throw new ApiError('invalid_request', 'The request has an invalid header or method.');
  }
}

// We asked for identity: decoding turns a few bytes into many, so only callers that bound what they read take it.
function plainBody({ headers, body }: Omit<EgressResponse, 'redirected'>, limits: Limits): EgressBody {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return body;
  if (limits.decodes && isDecodable(encoding)) return decodeBody(body, encoding, limits.maxResponseBytes);
  body.destroy();
  throw unreachable('encoded', 'response');
}

function joinHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(entries);
}

function withoutUndefined(init: EgressInit): Partial<Limits> {
  const { method: _m, headers: _h, body: _b, signal: _s, ...limits } = init;
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
