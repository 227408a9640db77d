import { createHash, randomBytes } from 'node:crypto';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { systemClock } from '../platform/clock.ts';

/** The address of a daemon, as our own runtime reports it. */
export type DaemonAddress = { socketPath: string } | { host: string; port: number };
export type DaemonRequestInit = {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Uint8Array | Readable;
  signal?: AbortSignal;
  /** Until the head of the response; 30 s by default. */
  headersTimeoutMs?: number;
};
export type DaemonResponse = { status: number; headers: IncomingHttpHeaders; body: Readable };

const headersTimeoutMs = 30_000;

/**
 * A request to a workspace's daemon: the only way to addresses that our own runtimes created and the outbound guard
 * would refuse. Follows no redirects and keeps no connection. Rejects if the connection fails, the signal aborts or no
 * head arrives in time.
 */
export function daemonRequest(
  address: DaemonAddress,
  path: string,
  init: DaemonRequestInit = {},
): Promise<DaemonResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = openRequest(address, path, init, reject);
    const { body } = init;
    outgoing.on('response', (incoming) => resolve(responseOf(incoming)));
    if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) outgoing.end(body);
    else {
      body.on('error', (error) => outgoing.destroy(error));
      body.pipe(outgoing);
    }
  });
}

/**
 * Requests a WebSocket from a daemon. Resolves with the connection's bytes after a correct handshake, otherwise with
 * the daemon's response. Rejects like `daemonRequest`. Its headers are neither trusted nor passed on.
 */
export function daemonUpgrade(
  address: DaemonAddress,
  path: string,
  init: Omit<DaemonRequestInit, 'method' | 'body'> = {},
): Promise<Duplex | DaemonResponse> {
  return new Promise((resolve, reject) => {
    const key = randomBytes(16).toString('base64');
    const handshake = { connection: 'Upgrade', upgrade: 'websocket' };
    const version = { 'sec-websocket-version': '13', 'sec-websocket-key': key };
    const headers = { ...init.headers, ...handshake, ...version };
    const outgoing = openRequest(address, path, { ...init, headers }, reject);
    outgoing.on('response', (incoming) => resolve(responseOf(incoming)));
    outgoing.on('upgrade', (incoming, socket, head) => {
      socket.on('error', () => socket.destroy());
      const expected = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      if (incoming.statusCode !== 101 || incoming.headers['sec-websocket-accept'] !== expected) {
        socket.destroy();
        reject(new Error('the daemon refused the WebSocket handshake'));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    outgoing.end();
  });
}

function openRequest(
  address: DaemonAddress,
  path: string,
  init: DaemonRequestInit,
  onError: (error: Error) => void,
): ClientRequest {
  const { method = 'GET', headers = {}, signal } = init;
  const options = { ...address, method, path, headers: { host: 'workspace', ...headers }, agent: false };
  const outgoing = request({ ...options, ...(signal === undefined ? {} : { signal }), maxHeaderSize: 16 * 1024 });
  const timer = systemClock.after(init.headersTimeoutMs ?? headersTimeoutMs, () =>
    outgoing.destroy(new Error('the daemon did not answer in time')),
  );
  const answered = () => timer.stop();
  const closed = (): void => {
    answered();
    // An unrequested protocol upgrade closes the connection without an error; after a response this does nothing.
    onError(new Error('the daemon did not answer'));
  };
  return outgoing.on('error', onError).on('close', closed).on('response', answered).on('upgrade', answered);
}

function responseOf(incoming: IncomingMessage): DaemonResponse {
  // Its reader gets errors; without a reader, they must not end the process.
  incoming.on('error', () => undefined);
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming };
}
