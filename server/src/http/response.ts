import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A complete response, built before the first byte is written. */
export type HttpResponse = {
  status: number;
  headers: Record<string, string | string[]>;
  /** Text that is still being made breaks its connection itself when it cannot be completed. */
  body: string | Uint8Array | AsyncIterable<string> | undefined;
};

/** Headers of every answer under /api. */
export function standardHeaders(requestId: string): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  };
}

/** Sends an answer; to HEAD without its body, which Node leaves out. */
export function send(outgoing: ServerResponse, { status, headers, body }: HttpResponse): void {
  if (body === undefined) {
    outgoing.writeHead(status, headers).end();
  } else if (typeof body === 'string' || body instanceof Uint8Array) {
    headers['content-length'] = String(Buffer.byteLength(body));
    outgoing.writeHead(status, headers).end(body);
  } else if (outgoing.req.method === 'HEAD') {
    outgoing.writeHead(status, headers).end();
  } else {
    outgoing.writeHead(status, headers);
    // A client that disconnects before the end is not an error.
    pipeline(Readable.from(body), outgoing).catch(() => outgoing.destroy());
  }
}
