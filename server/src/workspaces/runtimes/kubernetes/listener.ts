import { createServer, type Server } from 'node:http';
import { RuntimeFailure, type RuntimeHost } from '../../runtime.ts';

/** How pods reach us: one port of their own for the control plane and its proxy, so that a network policy can tell it from ours. */
export async function openListener({ config, serve, log }: RuntimeHost): Promise<{ close(): Promise<void> }> {
  const server = createServer({ maxHeaderSize: 16 * 1024, headersTimeout: 20_000, requestTimeout: 0 }, serve);
  server.on('connect', (_request, socket) => socket.end('HTTP/1.1 501 Not Implemented\r\n\r\n'));
  try {
    await listen(server, config.workspacePort);
  } catch (error) {
    throw new RuntimeFailure(`WORKSPACE_PORT ${config.workspacePort} cannot be listened at: ${String(error)}`);
  }
  server.on('error', (error) => log.error({ err: error }, 'the listener of workspaces failed'));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
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
