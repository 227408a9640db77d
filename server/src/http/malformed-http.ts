import { randomUUIDv7 } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError, errorStatus } from '@homeport/contracts/errors';
import { errorResponse } from './error-response.ts';
import { type HttpResponse, standardHeaders } from './response.ts';

const invalidHttp = 'The request is not valid HTTP';
const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers of the request are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
};

/** The one error shape, for a request without a usable address or an error that no handler expected. */
export function unroutable(code: 'invalid_request' | 'internal_error'): HttpResponse {
  const message = code === 'invalid_request' ? invalidHttp : 'Something went wrong on the server';
  const id = randomUUIDv7();
  return errorResponse(new ApiError(code, message), id, standardHeaders(id));
}

/**
 * Answers requests that Node refuses before any handler with the API error body; Node’s own response has no body or id.
 * The server must not check for a Host header: the router does.
 */
export function answerMalformedHttp(server: Server): void {
  const latest = new WeakMap<Socket, ServerResponse>();
  server.prependListener('request', (incoming, outgoing) => latest.set(incoming.socket, outgoing));
  server.on('checkExpectation', (_incoming, outgoing: ServerResponse) => {
    const { headers, body } = closingAnswer('This expectation cannot be met');
    outgoing.writeHead(errorStatus.invalid_request, headers).end(body);
  });
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    const answer = latest.get(socket);
    // Nothing can be inserted into another response.
    if (!socket.writable || (answer?.headersSent === true && !answer.writableEnded)) {
      socket.destroy();
      return;
    }
    const { headers, body } = closingAnswer(reasons[error.code ?? ''] ?? invalidHttp);
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end(`HTTP/1.1 400 Bad Request\r\n${head.join('\r\n')}\r\n\r\n${body}`);
  });
}

function closingAnswer(message: string): { headers: Record<string, string>; body: string } {
  const id = randomUUIDv7();
  const body = JSON.stringify({ error: { message, code: 'invalid_request', requestId: id } });
  const length = String(Buffer.byteLength(body));
  return { headers: { ...standardHeaders(id), connection: 'close', 'content-length': length }, body };
}
