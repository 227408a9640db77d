import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { RuntimeFailure, type RuntimeHost } from '../../runtime.ts';
import { createWorkspaceSocketsFactory } from '../workspace-sockets.ts';

const limits = { maxHeaderSize: 16 * 1024, headersTimeout: 20_000, requestTimeout: 0, keepAliveTimeout: 5_000 };
const maxConnections = 8192;
/** Per pod, so that none uses up another's. */
const connectionsPerAddress = 192;

export type Listener = { port: number; close(): Promise<void> };

/**
 * How pods reach us: a separate port for the control plane and its proxy, so that a network policy can tell it from the
 * public one.
 */
export async function openListener(host: RuntimeHost): Promise<Listener> {
  const { config, log } = host;
  const doors = createWorkspaceSocketsFactory(host)();
  const [control, proxy] = [doors['control.sock'], doors['egress.sock']];
  const server = createServer(limits, (request, response) => {
    // A proxy request names the whole address.
    const door = request.url?.startsWith('/') === true ? control : (proxy ?? control);
    door?.emit('request', request, response);
  });
  // Without a listener it is refused.
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
        // Tunnels too, which the HTTP server no longer counts as its connections.
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
    // On both address families if there are two.
    server.listen({ port, backlog: 512 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
