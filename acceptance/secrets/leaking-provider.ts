import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * A provider that throws its caller's headers and body back in every way it can: in error bodies, reason phrases,
 * redirects, broken streams and broken HTTP. The model id, or the first segment of the path for `/models`, chooses the
 * way.
 */
export async function startLeakingProvider() {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const { port }: AddressInfo = Object(server.address());
  return {
    /** The base URL of one way to fail. */
    url: (way: string) => `http://127.0.0.1:${port}/${way}/v1`,
    /** An identity provider whose token endpoint does the same. */
    issuer: `http://127.0.0.1:${port}/oidc`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Ways of leaking the secret. */
export const leakingWays = [
  ...[
    'unauthorized',
    'server-error',
    'plain-text',
    'html',
    'reason-phrase',
    'redirect',
    'error-event',
    'bad-json-event',
  ],
  ...['json-error', 'cut-event', 'broken-http', 'broken-chunk', 'header-bomb', 'encoded', 'retry-after'],
] as const;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const echo = JSON.stringify({ headers: request.rawHeaders, body: Buffer.concat(chunks).toString() });
  const way = request.url?.split('/')[1] ?? '';
  const document = oidcDocument(request);
  if (document !== undefined) return void response.writeHead(200, json).end(JSON.stringify(document));
  const key = request.headers.authorization ?? '';
  const make = ways[way] ?? ways.unauthorized;
  make?.(response, echo, key.replace(/[^ -~]/g, ''));
}

/** Documents of an identity provider; undefined for its token endpoint. */
function oidcDocument({ url = '', headers }: IncomingMessage): object | undefined {
  const issuer = `http://${headers.host}/oidc`;
  if (url === '/oidc/keys') return { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }] };
  if (url !== '/oidc/.well-known/openid-configuration') return undefined;
  const authorization_endpoint = `${issuer}/authorize`;
  return { issuer, authorization_endpoint, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` };
}

type Way = (response: ServerResponse, echo: string, key: string) => void;
const error = (echo: string) => JSON.stringify({ error: { message: `You sent ${echo}`, type: echo, code: echo } });
const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };

const ways: Record<string, Way> = {
  unauthorized: (response, echo) => response.writeHead(401, json).end(error(echo)),
  'server-error': (response, echo) => response.writeHead(500, json).end(error(echo)),
  'plain-text': (response, echo) => response.writeHead(400, { 'content-type': 'text/plain' }).end(echo),
  html: (response, echo) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><p>${echo}`),
  'reason-phrase': (response, echo, key) => response.writeHead(403, `No ${key}`, { ...json, 'x-echo': key }).end(echo),
  redirect: (response, _echo, key) => response.writeHead(302, { location: `/${encodeURIComponent(key)}` }).end(),
  'error-event': (response, echo) => response.writeHead(200, events).end(`data: ${error(echo)}\n\n`),
  'bad-json-event': (response, echo) => response.writeHead(200, events).end(`data: {"choices": [${echo}\n\n`),
  'json-error': (response, echo) => response.writeHead(200, json).end(error(echo)),
  'cut-event': (response, echo) =>
    response.writeHead(200, events).write(`data: ${echo.slice(0, -5)}`, () => cut(response.socket)),
  'broken-http': (response, echo) => response.socket?.end(`HTTP/1.1 200 OK\r\n${echo}\r\nx y z\r\n\r\n`),
  'broken-chunk': (response, echo) =>
    response.socket?.end(
      `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${echo}\r\n`,
    ),
  'header-bomb': (response, echo, key) =>
    response.socket?.end(`HTTP/1.1 200 OK\r\n${`x: ${key} ${echo}\r\n`.repeat(2_000)}\r\n`),
  encoded: (response, echo) => response.writeHead(200, { ...events, 'content-encoding': 'br' }).end(echo),
  'retry-after': (response, echo, key) =>
    response.writeHead(429, { ...json, 'retry-after': `${key}` }).end(error(echo)),
};

function cut(socket: Socket | null): void {
  socket?.destroySoon();
}
