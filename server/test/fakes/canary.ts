import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { canonicalAddress } from '../../src/egress/addresses.ts';

/** Traffic that reached the listeners: every connection as `address port`, and every request as `METHOD host path`. */
export type Sightings = { connections: string[]; requests: string[] };

/**
 * Listens on these ports of every address of the machine, serves HTTP and TLS on each, and records everything that
 * arrives. `/redir?c=<status>&to=<location>` redirects; `/redir-chain-private` does so three times, at last to
 * 127.0.0.1.
 */
export async function startCanary(ports: number[], tls: { key: string; cert: string }) {
  const seen: Sightings = { connections: [], requests: [] };
  const answer = (request: http.IncomingMessage, response: http.ServerResponse) => {
    seen.requests.push(`${request.method} ${request.headers.host} ${request.url}`);
    request.resume();
    respond(new URL(request.url ?? '/', `https://${request.headers.host}`), response);
  };
  const plain = http.createServer(answer);
  const secure = https.createServer(tls, answer);
  const listeners = ports.map((port) =>
    net.createServer((socket) => {
      seen.connections.push(`${canonicalAddress(socket.localAddress ?? '::')} ${port}`);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
      socket.once('data', (first) => {
        socket.pause();
        socket.unshift(first);
        if (first[0] === 0x16) secure.emit('connection', socket);
        else plain.emit('connection', socket.resume());
      });
    }),
  );
  await Promise.all(
    listeners.map((listener, index) => {
      listener.listen({ port: ports[index], host: '::', ipv6Only: false });
      return once(listener, 'listening');
    }),
  );
  return {
    /** The traffic since the last call. */
    take(): Sightings {
      const taken = { ...seen };
      seen.connections = [];
      seen.requests = [];
      return taken;
    },
    close() {
      for (const listener of listeners) listener.close();
    },
  };
}

const chain: Record<string, string> = {
  '/redir-chain-private': 'https://pub2.test/chain-2',
  '/chain-2': 'https://pub.test/chain-3',
  '/chain-3': 'https://127.0.0.1/',
};

function respond(url: URL, response: http.ServerResponse): void {
  response.setHeader('connection', 'close');
  const location = url.pathname === '/redir' ? url.searchParams.get('to') : chain[url.pathname];
  if (location === undefined || location === null) {
    response.end('ok');
    return;
  }
  response.writeHead(Number(url.searchParams.get('c') ?? 302), { location });
  response.end();
}
