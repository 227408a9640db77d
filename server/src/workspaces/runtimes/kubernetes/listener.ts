import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { RuntimeFailure, type RuntimeHost } from '../../runtime.ts';
import { createDoorMaker } from '../doors.ts';

const limits = { maxHeaderSize: 16 * 1024, headersTimeout: 20_000, requestTimeout: 0, keepAliveTimeout: 5_000 };
const maxConnections = 8192;
/** Those of one pod: none uses up another's. */
const connectionsPerAddress = 192;

export type Listener = { port: number; close(): Promise<void> };

/** How pods reach us: one port of their own for the control plane and its proxy, so that a network policy can tell it from ours. */
export async function openListener(host: RuntimeHost): Promise<Listener> {
  const { config, log } = host;
  const doors = createDoorMaker(host)();
  const [control, proxy] = [doors['control.sock'], doors['egress.sock']];
  const server = createServer(limits, (request, response) => {
    // Whoever asks a proxy names the whole address.
    const door = request.url?.startsWith('/') === true ? control : (proxy ?? control);
    door?.emit('request', request, response);
  });
  // Without anybody who listens for it, it is refused.
  if (proxy !== undefined) server.on('connect', (...asked) => proxy.emit('connect', ...asked));
  server.on('clientError', (_error, socket) => socket.destroy());
  server.maxConnections = maxConnections;
  const sockets = new Map<string, Set<Socket>>();
  server.on('connection', (socket) => admit(sockets, socket));
  try {
    await listen(server, config.workspacePort);
  } catch (error) {
    throw new RuntimeFailure(`WORKSPACE_PORT ${config.workspacePort} is not available: ${String(error)}`);
  }
  server.on('error', (error) => log.error({ err: error }, 'the port for workspaces failed'));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : config.workspacePort,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Also tunnels, which are no connections of an HTTP server any more.
        for (const each of sockets.values()) for (const socket of each) socket.destroy();
      }),
  };
}

function admit(sockets: Map<string, Set<Socket>>, socket: Socket): void {
  const address = socket.remoteAddress ?? '';
  const own = sockets.get(address) ?? new Set();
  if (own.size >= connectionsPerAddress) return void socket.destroy();
  sockets.set(address, own.add(socket));
  socket.once('close', () => {
    own.delete(socket);
    if (own.size === 0) sockets.delete(address);
  });
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Of both families where there are two.
    server.listen({ port, backlog: 512 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
