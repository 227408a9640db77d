import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import type { Readable } from 'node:stream';

/** Where our own runtime said that a daemon listens. */
export type DaemonAddress = { socketPath: string } | { host: string; port: number };
export type DaemonRequestInit = {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Uint8Array | Readable;
  signal?: AbortSignal;
  /** Until the head of the answer: 30 s unless said otherwise. */
  headersTimeoutMs?: number;
};
export type DaemonResponse = { status: number; headers: IncomingHttpHeaders; body: Readable };

const headersTimeoutMs = 30_000;

/**
 * A request to a workspace's daemon: the one way to addresses that our own runtimes made, which the outbound guard would refuse.
 * Follows nothing, keeps no connection. Rejects when the connection fails, the signal aborts or no head comes in time.
 */
export function daemonRequest(
  address: DaemonAddress,
  path: string,
  init: DaemonRequestInit = {},
): Promise<DaemonResponse> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body, signal } = init;
    const options = { ...address, method, path, headers: { host: 'workspace', ...headers }, agent: false };
    const outgoing = request({ ...options, ...(signal === undefined ? {} : { signal }), maxHeaderSize: 16 * 1024 });
    const timer = setTimeout(
      () => outgoing.destroy(new Error('the daemon did not answer in time')),
      init.headersTimeoutMs ?? headersTimeoutMs,
    );
    outgoing.on('error', reject);
    outgoing.on('close', () => clearTimeout(timer));
    outgoing.on('response', (incoming) => {
      clearTimeout(timer);
      // Its reader hears of errors; nobody reading it must not end the process.
      incoming.on('error', () => undefined);
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming });
    });
    if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) outgoing.end(body);
    else {
      body.on('error', (error) => outgoing.destroy(error));
      body.pipe(outgoing);
    }
  });
}
