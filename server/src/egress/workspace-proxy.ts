import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import { hostOf, parseDestination } from './destination.ts';
import { failureDetails } from './failures.ts';
import type { Guard, SocketTarget } from './guard.ts';

export type WorkspaceProxyOptions = {
  /** Checks and opens every connection; it should refuse private addresses whatever providers may reach. */
  guard: Guard;
  allowInsecureHttp: boolean;
  /** The enabled user of a workspace's token. */
  findUserId(token: string): Promise<string | undefined>;
  limits?: Partial<ProxyLimits>;
};

export type ProxyLimits = {
  /** Outbound connections that one workspace can have at a time. */
  connectionsPerUser: number;
  /** A connection without traffic for this long is closed. */
  idleMs: number;
  /** Connections that one server accepts, including those that are not yet authenticated. */
  connections: number;
};

const defaultLimits: ProxyLimits = { connectionsPerUser: 128, idleMs: 10 * 60_000, connections: 256 };
const serverLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 0,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 10_000,
};
const mailPort = 25;
const httpPort = 80;

/** A response instead of a connection. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The workspaces' way out: an HTTP proxy that supports CONNECT and, where plain http is allowed, absolute addresses.
 * Each request needs the workspace's token; the guard opens each connection. Creates servers for one workspace or many,
 * with shared counts.
 */
export function createWorkspaceProxy(options: WorkspaceProxyOptions): { createServer(): Server } {
  const limits = { ...defaultLimits, ...options.limits };
  const counts = new Map<string, number>();

  /** Reserves one of the user's connections until `release`. */
  async function admit(incoming: IncomingMessage): Promise<{ release(): void }> {
    const [, token] = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(incoming.headers['proxy-authorization'] ?? '') ?? [];
    const userId = token === undefined ? undefined : await options.findUserId(token);
    if (userId === undefined) throw new Refusal(407, 'The token of the workspace is missing or no longer valid.');
    const count = counts.get(userId) ?? 0;
    if (count >= limits.connectionsPerUser) throw new Refusal(429, 'This workspace has too many connections already.');
    counts.set(userId, count + 1);
    let isHeld = true;
    return {
      release() {
        if (!isHeld) return;
        isHeld = false;
        const left = (counts.get(userId) ?? 1) - 1;
        if (left === 0) counts.delete(userId);
        else counts.set(userId, left);
      },
    };
  }

  async function connect(incoming: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy());
    const held = await admit(incoming);
    client.once('close', held.release);
    // It may have disconnected while its token was looked up.
    if (client.destroyed) return held.release();
    const upstream = await open(tunnelTarget(incoming.url ?? '', options.allowInsecureHttp));
    if (client.destroyed) return void upstream.destroy();
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    join(client, upstream);
  }

  /** Both end when one of them does, or when neither has had traffic for too long. */
  function join(client: Duplex, upstream: Socket): void {
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    upstream.setTimeout(limits.idleMs, end);
    for (const socket of [client, upstream]) {
      socket.on('error', end);
      socket.on('close', end);
    }
    client.pipe(upstream);
    upstream.pipe(client);
  }

  function open(target: SocketTarget): Promise<Socket> {
    return new Promise((resolve, reject) => {
      options.guard.openSocket(target, (error, socket) => {
        if (socket === null) return reject(error);
        socket.on('error', () => socket.destroy());
        resolve(socket);
      });
    });
  }

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = parseDestination(incoming.url ?? '');
    if (url === undefined)
      throw new Refusal(400, 'This is a proxy: it accepts CONNECT, or requests with an absolute address.');
    if (url.protocol !== 'http:') throw new Refusal(400, 'Use CONNECT for https.');
    if (!options.allowInsecureHttp)
      throw new Refusal(403, 'Plain http is not allowed here (ALLOW_INSECURE_HTTP): use https.');
    const held = await admit(incoming);
    response.once('close', held.release);
    if (response.destroyed) return held.release();
    const port = url.port === '' ? httpPort : Number(url.port);
    refuseMail(port);
    const upstream = await open({ secure: false, hostname: url.hostname, port });
    if (response.destroyed) return void upstream.destroy();
    upstream.setTimeout(limits.idleMs, () => upstream.destroy());
    await relay(incoming, response, url, upstream);
  }

  return {
    createServer() {
      const server = createServer(serverLimits, (incoming, response) => {
        forward(incoming, response).catch((error: unknown) => {
          const { status, message } = describe(error);
          if (response.headersSent || response.destroyed) return response.destroy();
          response.writeHead(status, { ...headersOf(status), connection: 'close' }).end(`${message}\n`);
        });
      });
      server.maxConnections = limits.connections;
      server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
        connect(incoming, client, head).catch((error: unknown) => refuse(client, describe(error)));
      });
      server.on('clientError', (_error, client) => client.destroy());
      return server;
    },
  };
}

/** `host:port`, as in CONNECT. Mail and, unless allowed, plain http are not tunneled. */
function tunnelTarget(authority: string, allowInsecureHttp: boolean): SocketTarget {
  const [, host, portText] = /^(\[[0-9a-fA-F:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/.exec(authority) ?? [];
  const port = Number(portText);
  const url = host === undefined ? undefined : parseDestination(`https://${host}:${portText}/`);
  if (url === undefined || port < 1) throw new Refusal(400, 'CONNECT needs a host and a port.');
  refuseMail(port);
  if (port === httpPort && !allowInsecureHttp)
    throw new Refusal(403, 'Plain http is not allowed here (ALLOW_INSECURE_HTTP).');
  return { secure: true, tunnel: true, hostname: hostOf(url.hostname), port };
}

function refuseMail(port: number): void {
  if (port === mailPort) throw new Refusal(403, 'Mail cannot be delivered from a workspace.');
}

function relay(incoming: IncomingMessage, response: ServerResponse, url: URL, upstream: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const host = isIPv6(hostOf(url.hostname)) ? `[${hostOf(url.hostname)}]` : url.hostname;
    const outgoing = request({
      createConnection: () => upstream,
      method: incoming.method,
      path: `${url.pathname}${url.search}`,
      setHost: false,
      headers: {
        ...endToEnd(incoming.headers),
        host: url.port === '' ? host : `${host}:${url.port}`,
        connection: 'close',
      },
    });
    outgoing.on('error', () => reject(new Refusal(502, 'The service broke the connection.')));
    outgoing.on('response', (answer) => {
      answer.on('error', () => response.destroy());
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.pipe(response);
      resolve();
    });
    response.once('close', () => outgoing.destroy());
    incoming.on('error', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
}

const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
].concat('transfer-encoding', 'upgrade');

/** Headers without those for the next hop only (RFC 9110, 7.6.1), including those that `connection` names. */
function endToEnd(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !hopByHop.includes(name) && !named.includes(name)),
  );
}

function describe(error: unknown): { status: number; message: string } {
  if (error instanceof Refusal) return { status: error.status, message: error.message };
  if (error instanceof ApiError && error.code === 'blocked_destination') {
    return { status: 403, message: 'This address is not allowed from a workspace, or its name cannot be resolved.' };
  }
  const reason = failureDetails(error)?.reason;
  if (reason === 'timeout') return { status: 504, message: 'The service did not answer in time.' };
  return { status: 502, message: 'The service could not be reached.' };
}

function headersOf(status: number): Record<string, string> {
  const plain = { 'content-type': 'text/plain; charset=utf-8' };
  return status === 407 ? { ...plain, 'proxy-authenticate': 'Bearer' } : plain;
}

function refuse(client: Duplex, { status, message }: { status: number; message: string }): void {
  if (client.destroyed) return;
  const headers = Object.entries({
    ...headersOf(status),
    'content-length': String(message.length + 1),
    connection: 'close',
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  client.end(`HTTP/1.1 ${status} Refused\r\n${lines}\r\n${message}\n`);
}
