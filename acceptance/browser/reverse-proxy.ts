import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';

/** A reverse proxy in front of the product, with the habits of real ones. */
export type ReverseProxy = {
  url: string;
  /** Its sign-in service lets no request pass; each is redirected to the service's page, or answered with 401. */
  session: 'open' | 'redirects' | 'refuses';
  /** Bytes of a request that it passes on. */
  maximum: number;
  passesUpgrades: boolean;
  /** Paths of requests that came without a cookie. */
  withoutCookie: string[];
  close: () => void;
};

const portal = '/outpost/login';

export async function startReverseProxy(target: string): Promise<ReverseProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    if (incoming.headers.cookie === undefined) proxy.withoutCookie.push(incoming.url ?? '');
    if (incoming.url?.startsWith(portal)) return sendPage(outgoing, 200, 'Company sign-in');
    if (proxy.session === 'redirects') return void outgoing.writeHead(302, { location: portal }).end();
    if (proxy.session === 'refuses') return sendPage(outgoing, 401, '401 Authorization Required');
    if (Number(incoming.headers['content-length'] ?? 0) > proxy.maximum) return refuseSize(incoming, outgoing);
    const { method, url: path, headers } = incoming;
    const request = forward({ hostname, port, method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    request.on('error', () => outgoing.destroy());
    outgoing.on('close', () => request.destroy());
    incoming.pipe(request);
  });
  server.on('upgrade', (incoming, socket, head) => {
    if (!proxy.passesUpgrades) return socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n');
    const upstream = connect(Number(port), hostname, () => {
      const lines = Object.entries(incoming.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      upstream.write(`GET ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  const proxy: ReverseProxy = {
    url: `http://127.0.0.1:${address.port}`,
    session: 'open',
    maximum: Number.POSITIVE_INFINITY,
    passesUpgrades: true,
    withoutCookie: [],
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return proxy;
}

function sendPage(outgoing: ServerResponse, status: number, title: string): void {
  outgoing.writeHead(status, { 'content-type': 'text/html', server: 'nginx/1.22.1' });
  outgoing.end(`<!doctype html><title>${title}</title><h1>${title}</h1>`);
}

/** Reads the rest, since a connection that is reset hides the answer from the browser. */
function refuseSize(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume();
  incoming.on('end', () => sendPage(outgoing, 413, '413 Request Entity Too Large'));
}
