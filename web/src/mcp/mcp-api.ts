import type { McpServer, McpServerDetail } from '@homeport/contracts/mcp/mcp';
import { queryOptions } from '@tanstack/react-query';
import { type CallOptions, call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';

export type ServerBody = CallOptions<'POST /api/mcp'>['body'];
export type ServerPatch = CallOptions<'PATCH /api/mcp'>['body'];
type TrustBody = CallOptions<'POST /api/mcp/trust'>['body'];
export type McpTest = Awaited<ReturnType<McpApi['test']>>;
export type McpApi = ReturnType<typeof createMcpApi>;

/** The user's own MCP servers, or another user's as an administrator. */
export function mcpServersQuery(userId?: string) {
  return queryOptions({
    queryKey: ['mcp', userId ?? 'own'],
    queryFn: async ({ signal }) => {
      const answer =
        userId === undefined
          ? await call('GET /api/mcp', { signal })
          : await call('GET /api/admin/mcp', { query: { userId }, signal });
      if (!('servers' in answer)) throw new ApiFailure('unreadable', '');
      return answer;
    },
  });
}

/** The actions on MCP servers: the user's own or, with `userId`, another user's. All throw `ApiFailure`. */
export function createMcpApi(userId: string | undefined) {
  if (userId === undefined) {
    return {
      read: async (id: string) => detail(await call('GET /api/mcp', { query: { id } })),
      add: (body: ServerBody) => call('POST /api/mcp', { body }),
      change: (body: ServerPatch) => call('PATCH /api/mcp', { body }),
      remove: (id: string) => call('DELETE /api/mcp', { query: { id } }),
      test: (id: string, signal?: AbortSignal) => call('POST /api/mcp/test', { body: { id }, signal }),
      trust: (body: TrustBody) => call('POST /api/mcp/trust', { body }),
    };
  }
  const query = { userId };
  return {
    read: async (id: string) => detail(await call('GET /api/admin/mcp', { query: { userId, id } })),
    add: (body: ServerBody) => call('POST /api/admin/mcp', { query, body }),
    change: (body: ServerPatch) => call('PATCH /api/admin/mcp', { query, body }),
    remove: (id: string) => call('DELETE /api/admin/mcp', { query: { userId, id } }),
    test: (id: string, signal?: AbortSignal) => call('POST /api/admin/mcp/test', { query, body: { id }, signal }),
    trust: (body: TrustBody) => call('POST /api/admin/mcp/trust', { query, body }),
  };
}

function detail(answer: object): McpServerDetail {
  if ('server' in answer) return answer.server as McpServerDetail;
  throw new ApiFailure('unreadable', '');
}

/** A server's state between being added and being used. A test finds changes but does not change the trust. */
export function serverState(server: McpServer): 'untested' | 'untrusted' | 'trusted' | 'changed' {
  const isAsTrusted = server.fingerprint === server.trustedFingerprint;
  if (server.trustState === 'trusted') return isAsTrusted ? 'trusted' : 'changed';
  if (server.trustState === 'drifted') return 'changed';
  return server.fingerprint === null ? 'untested' : 'untrusted';
}
