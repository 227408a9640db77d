import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { daemonErrorStatus } from '@homeport/contracts/workspace/daemon-errors';
import { clock } from '../clock.ts';
import { DaemonError } from './daemon-error.ts';

/** Target of a request; `pathname` always begins with `/` and is still percent-encoded. */
type Target = { pathname: string; query: URLSearchParams };
/** One request and its response. */
export type Exchange = Target & {
  request: IncomingMessage;
  response: ServerResponse;
  method: string;
  /** Aborted if the other side disconnects before the response was sent in full. */
  signal: AbortSignal;
};
type Handler = (exchange: Exchange, ...params: string[]) => Promise<void> | void;
/** `path` is matched as a whole; each of its groups becomes a decoded parameter. */
export type Route = { method: string; path: RegExp; handler: Handler };

type Settings = {
  tokenHash: string;
  routes: Route[];
  /** Answered without a token. */
  open: (exchange: Exchange) => boolean;
  onRequest: () => void;
  /** Takes over the socket of a request that asks for another protocol; throws as long as nothing was sent. */
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, url: Target) => Promise<void>;
  log: (message: string, error?: unknown) => void;
};

const maxHeaderBytes = 16 * 1024;
const maxConnections = 256;
/** How long the remaining bytes of a refused body are read. */
const unreadMs = 1_000;

/**
 * The daemon's server: every request except `open` ones needs the token; every failure is `{error: {code, message}}`.
 */
export function createDaemonServer(settings: Settings): Server {
  const server = createServer(
    // Transfers have no time limit: only the head is timed.
    { maxHeaderSize: maxHeaderBytes, headersTimeout: 15_000, requestTimeout: 0, keepAliveTimeout: 5_000 },
    (request, response) => {
      void answer(settings, request, response);
    },
  );
  server.maxConnections = maxConnections;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    void upgrade(settings, request, socket, head);
  });
  return server;
}

async function answer(settings: Settings, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  try {
    const exchange = openExchange(request, response);
    if (settings.open(exchange)) return;
    requireToken(settings.tokenHash, request);
    settings.onRequest();
    const [handler, params] = findRoute(settings.routes, exchange);
    await handler(exchange, ...params);
  } catch (error) {
    sendError(request, response, error, settings.log);
  }
}

function openExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  const method = request.method ?? 'GET';
  return { request, response, method, ...readTarget(request), signal: controller.signal };
}

function readTarget(request: IncomingMessage): Target {
  const [pathname, search] = splitOnce(request.url ?? '/', '?');
  if (!pathname.startsWith('/')) throw new DaemonError('invalid_request', 'The path must begin with a slash');
  return { pathname, query: new URLSearchParams(search) };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Whether the request carries the token with this hash, in constant time. */
export function hasToken(tokenHash: string, request: IncomingMessage): boolean {
  const [, token] = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(request.headers.authorization ?? '') ?? [];
  const hash = createHash('sha256')
    .update(token ?? '')
    .digest();
  return timingSafeEqual(hash, Buffer.from(tokenHash, 'hex')) && token !== undefined;
}

function requireToken(tokenHash: string, request: IncomingMessage): void {
  if (!hasToken(tokenHash, request)) throw new DaemonError('unauthorized', 'The token is missing or wrong');
}

function findRoute(routes: Route[], { method, pathname }: Exchange): [Handler, string[]] {
  const matching = routes.filter((route) => route.path.test(pathname));
  const route = matching.find((candidate) => candidate.method === '*' || candidate.method === method);
  if (route === undefined) {
    if (matching.length === 0) throw new DaemonError('not_found', 'No such endpoint');
    const allow = matching.map((candidate) => candidate.method).join(', ');
    throw new DaemonError('method_not_allowed', `${method} is not allowed here`, { allow });
  }
  const params = route.path.exec(pathname)?.slice(1) ?? [];
  return [route.handler, params.map(decode)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DaemonError('invalid_request', 'The path is not percent-encoded UTF-8');
  }
}

async function upgrade(settings: Settings, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
  socket.on('error', () => undefined);
  try {
    requireToken(settings.tokenHash, request);
    settings.onRequest();
    await settings.upgrade(request, socket, head, readTarget(request));
  } catch (error) {
    const { code, message } = refusalOf(error, request, settings.log);
    const body = JSON.stringify({ error: { code, message } });
    const lines = ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`, 'connection: close'];
    socket.end(`HTTP/1.1 ${daemonErrorStatus[code]} Refused\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  }
}

/** Answers with JSON, on one line. */
export function sendJson({ response }: { response: ServerResponse }, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

/** The JSON object of the body, of at most `maxBytes`. */
export async function readJson({ request }: Exchange, maxBytes: number): Promise<Record<string, unknown>> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new DaemonError('unsupported_media_type', 'Send application/json');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new DaemonError('payload_too_large', `The body is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return parseObject(Buffer.concat(chunks));
}

function parseObject(body: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new DaemonError('invalid_request', 'The body is not JSON');
  }
  if (!isObject(value)) throw new DaemonError('invalid_request', 'The body is not a JSON object');
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sendError(request: IncomingMessage, response: ServerResponse, error: unknown, log: Settings['log']): void {
  if (response.destroyed) return;
  const refusal = refusalOf(error, request, log);
  // If the head was already sent, all that is left is to break the connection.
  if (response.headersSent) return void response.destroy();
  for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
  const body = Buffer.from(JSON.stringify({ error: { code: refusal.code, message: refusal.message } }));
  const isRead = request.complete;
  response.writeHead(daemonErrorStatus[refusal.code], {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(isRead ? {} : { connection: 'close' }),
  });
  if (isRead) return void response.end(body);
  // The connection closes at the end: unread bytes would otherwise reset it before a client that is still sending gets
  // the response.
  response.write(body);
  const end = (): void => void response.end();
  const timer = clock.after(unreadMs, end);
  response.once('close', () => timer.stop());
  request.once('end', end).once('close', end).resume();
}

function refusalOf(error: unknown, request: IncomingMessage, log: Settings['log']): DaemonError {
  if (error instanceof DaemonError) return error;
  log(`${request.method} failed`, error);
  return new DaemonError('internal_error', 'Something went wrong');
}
