import { createServer, type Server } from 'node:http';
import type { Config } from '../../config/config.ts';
import { createGuard } from '../../egress/guard.ts';
import { createWorkspaceProxy } from '../../egress/workspace-proxy.ts';
import type { RuntimeHost } from '../runtime.ts';

/**
 * The servers of one workspace, by their socket's name: its ways out. Each workspace has its own, so that none uses up
 * another's connections.
 */
export type WorkspaceSockets = Partial<Record<'control.sock' | 'egress.sock', Server>>;

/** Environment variables that carry permissions to the daemon. */
export function permissionsInside(config: Pick<Config, 'workspaceModels'>): Record<string, string> {
  return config.workspaceModels ? { HOMEPORT_MODELS: '1' } : {};
}

const controlLimits = { maxHeaderSize: 16 * 1024, headersTimeout: 20_000, requestTimeout: 0, keepAliveTimeout: 5_000 };
const controlConnections = 64;

/** Creates a workspace's servers; they do not listen yet. */
export function createWorkspaceSocketsFactory({ config, serve, findUserId }: RuntimeHost): () => WorkspaceSockets {
  const { allowInsecureHttp, httpsProxy, httpProxy, noProxy } = config;
  const guard = createGuard({ allowPrivateEgress: false, allowInsecureHttp, httpsProxy, httpProxy, noProxy });
  const proxy = createWorkspaceProxy({ guard, allowInsecureHttp, findUserId });
  return () => ({
    'control.sock': createControlServer(serve),
    ...(config.workspaceEgress === 'proxy' ? { 'egress.sock': proxy.createServer() } : {}),
  });
}

/** Only what is made for workspaces can be reached through it. */
function createControlServer(serve: RuntimeHost['serve']): Server {
  const server = createServer(controlLimits, (request, response) => {
    if (isInternal(request.url ?? '')) return serve(request, response);
    response.writeHead(404, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ error: { code: 'not_found', message: 'Workspaces reach /api/internal only' } }));
  });
  server.maxConnections = controlConnections;
  server.on('clientError', (_error, socket) => socket.destroy());
  return server;
}

/** Checked both as written and as parsed: `..` and its encoded forms would lead out. */
function isInternal(target: string): boolean {
  const isBelow = (path: string): boolean => /^\/api\/internal\/[^?]/.test(path);
  return isBelow(target) && isBelow(URL.parse(target, 'http://control')?.pathname ?? '');
}
