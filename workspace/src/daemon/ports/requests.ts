import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { bridgePort, modelsPort } from '../config.ts';
import { DaemonError } from '../daemon-error.ts';
import { type Exchange, sendJson } from '../http.ts';
import type { Daemon } from '../state.ts';
import { listPorts } from './listening.ts';

const tunnelsMax = 128;
const connectMs = 5_000;
/** Sockets of development servers are quiet for long. */
const idleMs = 2 * 3_600_000;

/** The endpoints of ports that programs of the workspace listen on; created at the first request. */
export function createPorts(daemon: Daemon) {
  const own = ownPorts(daemon);
  let open = 0;

  return {
    async getPorts(exchange: Exchange): Promise<void> {
      sendJson(exchange, 200, { ports: await listPorts(own) });
    },

    /** Throws only before anything was sent; afterwards the bytes of both sides are passed on. */
    async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, query: URLSearchParams): Promise<void> {
      const port = readPort(query, own);
      const key = request.headers['sec-websocket-key'];
      if (typeof key !== 'string') throw new DaemonError('invalid_request', 'Not an upgrade');
      if (open >= tunnelsMax) throw new DaemonError('busy', `${tunnelsMax} connections to ports are open already`);
      open += 1;
      socket.once('close', () => {
        open -= 1;
      });
      const app = await connectLoopback(port);
      app.on('error', () => app.destroy());
      if (socket.destroyed) return void app.destroy();
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      const lines = ['connection: Upgrade', 'upgrade: websocket', `sec-websocket-accept: ${accept}`];
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
      if (head.length > 0) app.write(head);
      app.setTimeout(idleMs, () => app.destroy());
      // Bytes that the program sent before it closed still arrive.
      app.once('close', (hadError) => (hadError ? socket.destroy() : socket.end()));
      socket.once('close', () => app.destroy());
      socket.pipe(app);
      app.pipe(socket);
    },
  };
}

/** The daemon's own ports are not listed. */
function ownPorts({ config }: Daemon): ReadonlySet<number> {
  const { listen, egress, modelsUrl } = config;
  const own = [...(egress === undefined ? [] : [bridgePort]), ...(modelsUrl === undefined ? [] : [modelsPort])];
  return new Set([...('port' in listen ? [listen.port] : []), ...own]);
}

function readPort(query: URLSearchParams, own: ReadonlySet<number>): number {
  const text = query.get('port') ?? '';
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new DaemonError('invalid_request', 'port is a number from 1 to 65535');
  if (own.has(port)) throw nothingListens(port);
  return port;
}

/** Programs that listen on `localhost` get either of its addresses. */
async function connectLoopback(port: number): Promise<Socket> {
  for (const host of ['127.0.0.1', '::1']) {
    const socket = await dial(host, port);
    if (socket !== undefined) return socket;
  }
  throw nothingListens(port);
}

function dial(host: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const fail = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once('error', fail).setTimeout(connectMs, fail);
    socket.once('connect', () => {
      socket.off('error', fail).setTimeout(0).removeListener('timeout', fail);
      resolve(socket);
    });
  });
}

function nothingListens(port: number): DaemonError {
  return new DaemonError('not_found', `Nothing listens on port ${port}`);
}
