import { ApiError } from '@homeport/contracts/errors';
import type { mcpEndpoints } from '@homeport/contracts/mcp';
import { assertUser } from '../accounts/users.ts';
import type { Deps } from '../deps.ts';
import { type Actor, type Handler, sourceOf } from '../http/handler.ts';
import { getMcpServerDetail, listMcpServers, deleteMcpServer as removeMcpServer } from './servers.ts';
import { changeMcpServer, createMcpServer, testMcpServer, trustMcpServer } from './trust.ts';

type HandlerDeps = Pick<Deps, 'db' | 'secrets' | 'mcp'>;
type McpHandler<Name extends keyof typeof mcpEndpoints> = Handler<HandlerDeps, (typeof mcpEndpoints)[Name]>;

/** MCP edit access (specification "Authentication" 4). */
export function canEditMcp(actor: Pick<Actor, 'role' | 'mcpSettingsEnabled'>): boolean {
  return actor.role === 'admin' || actor.mcpSettingsEnabled;
}

export const getMcpServers: McpHandler<'getMcpServers'> = async (deps, { actor, query }) => {
  const canEdit = canEditMcp(actor);
  if (query.id === undefined) return { servers: await listMcpServers(deps, actor.id), canEdit };
  if (!canEdit) throw new ApiError('mcp_settings_disabled', 'MCP settings are managed by an administrator');
  return { server: await getMcpServerDetail(deps, actor.id, query.id), canEdit };
};

export const postMcpServer: McpHandler<'postMcpServer'> = async (deps, input) => ({
  server: await createMcpServer(deps, input.actor.id, input.body, sourceOf(input)),
});

export const patchMcpServer: McpHandler<'patchMcpServer'> = async (deps, input) => ({
  server: await changeMcpServer(deps, input.actor.id, input.body, sourceOf(input)),
});

export const deleteMcpServer: McpHandler<'deleteMcpServer'> = async (deps, input) => {
  await removeMcpServer(deps, input.actor.id, input.query.id, sourceOf(input));
  deps.mcp.drop(input.query.id);
  return { ok: true };
};

export const postMcpTest: McpHandler<'postMcpTest'> = (deps, input) =>
  testMcpServer(deps, input.actor.id, input.body.id, sourceOf(input));

export const postMcpTrust: McpHandler<'postMcpTrust'> = async (deps, input) => ({
  server: await trustMcpServer(deps, input.actor.id, input.body, sourceOf(input)),
});

/** Whose servers an administrator's request is about. Throws `not_found` for an unknown user. */
async function targetUser(deps: HandlerDeps, query: { userId: string }): Promise<string> {
  await assertUser(deps, query.userId);
  return query.userId;
}

export const getUserMcpServers: McpHandler<'getUserMcpServers'> = async (deps, { query }) => {
  const owner = await targetUser(deps, query);
  if (query.id === undefined) return { servers: await listMcpServers(deps, owner), canEdit: true };
  return { server: await getMcpServerDetail(deps, owner, query.id), canEdit: true };
};

export const postUserMcpServer: McpHandler<'postUserMcpServer'> = async (deps, input) => ({
  server: await createMcpServer(deps, await targetUser(deps, input.query), input.body, sourceOf(input)),
});

export const patchUserMcpServer: McpHandler<'patchUserMcpServer'> = async (deps, input) => ({
  server: await changeMcpServer(deps, await targetUser(deps, input.query), input.body, sourceOf(input)),
});

export const deleteUserMcpServer: McpHandler<'deleteUserMcpServer'> = async (deps, input) => {
  await removeMcpServer(deps, await targetUser(deps, input.query), input.query.id, sourceOf(input));
  deps.mcp.drop(input.query.id);
  return { ok: true };
};

export const postUserMcpTest: McpHandler<'postUserMcpTest'> = async (deps, input) =>
  testMcpServer(deps, await targetUser(deps, input.query), input.body.id, sourceOf(input));

export const postUserMcpTrust: McpHandler<'postUserMcpTrust'> = async (deps, input) => ({
  server: await trustMcpServer(deps, await targetUser(deps, input.query), input.body, sourceOf(input)),
});
