import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { systemClock } from '../platform/clock.ts';
import type { OperatorConnections } from './operator-connections.ts';

export type OperatorRequest = {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** Certificates and credentials, and a separate agent if there is a proxy in between. */
  options: RequestOptions;
  timeoutMs: number;
  /** A longer response is an error. */
  maxBytes: number;
};

/**
 * One request to one of the operator's servers (see openOperatorConnections), with its response as text. Follows no
 * redirects.
 */
export function operatorRequest(
  connections: OperatorConnections,
  { method, url, headers, body, options, timeoutMs, maxBytes }: OperatorRequest,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const agent = options.agent ?? (secure ? connections.httpsAgent : connections.httpAgent);
    const send = secure ? httpsRequest : httpRequest;
    const outgoing = send(url, { ...options, agent, method, headers: { ...options.headers, ...headers } });
    const timer = systemClock.after(timeoutMs, () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    outgoing.on('close', () => timer.stop());
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) outgoing.destroy(new Error(`an answer of more than ${maxBytes} bytes`));
        else chunks.push(chunk);
      });
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    outgoing.end(body);
  });
}
