import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '@homeport/contracts/errors';
import { errorResponse } from './error-response.ts';
import { standardHeaders } from './router.ts';

const invalidHttp = 'The request is not valid HTTP';
const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers of the request are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
};

/** The one error shape for a request that has no usable address, or for what no handler foresaw. */
export function unroutable(code: 'invalid_request' | 'internal_error'): Response {
  const message = code === 'invalid_request' ? invalidHttp : 'Something went wrong on the server';
  const id = crypto.randomUUID();
  return errorResponse(new ApiError(code, message), id, standardHeaders(id));
}

/** Answers what Node's parser refuses in the one error shape too; without this the answer has no body and no request id. */
export function answerBadHttp(server: Server): void {
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    // A connection that has carried answers may be in the middle of one: nothing can be said on it any more.
    if (!socket.writable || socket.bytesWritten > 0) {
      socket.destroy();
      return;
    }
    const id = crypto.randomUUID();
    const message = reasons[error.code ?? ''] ?? invalidHttp;
    const body = JSON.stringify({ error: { message, code: 'invalid_request', requestId: id } });
    const headers = { ...standardHeaders(id), connection: 'close', 'content-length': String(Buffer.byteLength(body)) };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end(`HTTP/1.1 400 Bad Request\r\n${head.join('\r\n')}\r\n\r\n${body}`);
  });
}
