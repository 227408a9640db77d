import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { createGuard } from '../../../egress/guard.ts';
import { createWorkspaceProxy } from '../../../egress/workspace-proxy.ts';
import { RuntimeFailure, type RuntimeHost } from '../../runtime.ts';

const limits = { maxHeaderSize: 16 * 1024, headersTimeout: 20_000, requestTimeout: 0, keepAliveTimeout: 5_000 };
const maxConnections = 4096;

export type Listener = { port: number; close(): Promise<void> };

/** How pods reach us: one port of their own for the control plane and its proxy, so that a network policy can tell it from ours. */
export async function openListener({ config, serve, findUserId, log }: RuntimeHost): Promise<Listener> {
  const { allowInsecureHttp, workspacePort, workspaceEgress } = config;
  const guard = createGuard({ allowPrivateEgress: false, allowInsecureHttp });
  const proxy = createWorkspaceProxy({ guard, allowInsecureHttp, findUserId }).createServer();
  const server = createServer(limits, (request, response) => {
    // Whoever asks a proxy names the whole address.
    if (request.url?.startsWith('/') === true || workspaceEgress === 'none') serve(request, response);
    else proxy.emit('request', request, response);
  });
  // Tunnels are no connections of an HTTP server any more.
  const tunnels = new Set<Duplex>();
  // Without anybody who listens for it, it is refused.
  if (workspaceEgress === 'proxy') {
    server.on('connect', (request, socket, head) => {
      tunnels.add(socket);
      socket.once('close', () => tunnels.delete(socket));
      proxy.emit('connect', request, socket, head);
    });
  }
  server.maxConnections = maxConnections;
  try {
    await listen(server, workspacePort);
  } catch (error) {
    throw new RuntimeFailure(`WORKSPACE_PORT ${workspacePort} cannot be listened at: ${String(error)}`);
  }
  server.on('error', (error) => log.error({ err: error }, 'the port of workspaces failed'));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : workspacePort,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of tunnels) socket.destroy();
      }),
  };
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
