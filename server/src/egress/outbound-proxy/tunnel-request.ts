import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { Duplex } from 'node:stream';

export type TunnelRequest = {
  method: string;
  path: string;
  headers: OutgoingHttpHeaders;
  /** Undefined: no body. */
  body: NodeJS.ReadableStream | undefined;
  signal: AbortSignal;
};
/** `upgraded` is set if the other side changed the protocol: the bytes of its connection. */
export type TunnelResponse = { head: IncomingMessage; upgraded: Duplex | undefined };

const headersMax = 32 * 1024;

/**
 * One HTTP request over the bytes of a connection that already exists, such as one to a port of a workspace. Resolves
 * with the head of the response and rejects if there is none; the connection ends with the response.
 */
export function tunnelRequest(connection: Duplex, init: TunnelRequest): Promise<TunnelResponse> {
  return new Promise((resolve, reject) => {
    const { method, path, headers, body, signal } = init;
    let outgoing: ClientRequest;
    try {
      outgoing = request({
        method,
        path,
        headers,
        signal,
        setHost: false,
        maxHeaderSize: headersMax,
        createConnection: () => connection,
      });
    } catch (error) {
      connection.destroy();
      return reject(error);
    }
    outgoing.on('error', (error) => {
      connection.destroy();
      reject(error);
    });
    outgoing.on('close', () => reject(new Error('the connection ended without a response')));
    outgoing.on('response', (head) => {
      head.on('error', () => connection.destroy());
      resolve({ head, upgraded: undefined });
    });
    outgoing.on('upgrade', (head, socket, first) => {
      socket.on('error', () => socket.destroy());
      if (first.length > 0) socket.unshift(first);
      resolve({ head, upgraded: socket });
    });
    if (body === undefined) outgoing.end();
    else body.pipe(outgoing);
  });
}
