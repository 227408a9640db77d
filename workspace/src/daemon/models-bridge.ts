import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestOptions,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream';

const connectionsMax = 32;
const routes: Record<string, string> = {
  'GET /v1/models': '/api/internal/v1/models',
  'POST /v1/chat/completions': '/api/internal/v1/chat/completions',
};
const passedOn = ['authorization', 'content-type', 'content-length', 'transfer-encoding', 'accept'];
const answered = ['content-type', 'content-length', 'retry-after', 'x-request-id', 'cache-control'];

/**
 * As the control plane makes it of the workspace's token (server/src/workspaces/tokens.ts): one-way, and good for
 * models only.
 */
export function readModelToken(tokenFile: string): string {
  const token = readFileSync(tokenFile, 'utf8').trim();
  return `wmt_${createHash('sha256').update(`homeport models ${token}`, 'utf8').digest('base64url')}`;
}

/**
 * Serves an address in the workspace that forwards model requests to the control plane. It adds no credentials:
 * programs send the token that commands have in OPENAI_API_KEY. Resolves when it listens.
 */
export function startModelsBridge({ url, port }: { url: string; port: number }): Promise<Server> {
  const place = placeOf(url);
  const server = createServer((incoming, response) => {
    const path = routes[`${incoming.method} ${(incoming.url ?? '').replace(/\?.*$/s, '')}`];
    if (path === undefined) return refuse(response, 404, 'Here are GET /v1/models and POST /v1/chat/completions');
    pass(incoming, response, { ...place, path });
  });
  server.maxConnections = connectionsMax;
  server.requestTimeout = 0;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

function placeOf(url: string): RequestOptions {
  if (url.startsWith('unix:')) return { socketPath: url.slice('unix:'.length) };
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 80 : Number(port) };
}

function pass(incoming: IncomingMessage, response: ServerResponse, to: RequestOptions): void {
  // With `close`, an answer that comes before the whole body was sent would be lost with the connection.
  const headers = { ...only(incoming.headers, passedOn), connection: 'keep-alive' };
  const outgoing = request({ ...to, method: incoming.method, headers, agent: false });
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, only(answer.headers, answered));
    pipeline(answer, response, () => outgoing.destroy());
  });
  outgoing.on('error', () => {
    if (response.headersSent) response.destroy();
    else refuse(response, 502, 'Homeport does not answer');
  });
  response.once('close', () => outgoing.destroy());
  incoming.on('error', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

function only(headers: IncomingMessage['headers'], names: readonly string[]): Record<string, string> {
  const kept = names.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(kept);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: { message, code: status === 404 ? 'not_found' : 'workspace_request_failed' } }));
}
