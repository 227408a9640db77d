import { ApiError } from '@homeport/contracts/errors';
import type { mcpEndpoints } from '@homeport/contracts/mcp/mcp';
import { assertUser } from '../accounts/users.ts';
import type { AuditSource } from '../audit/audit.ts';
import type { Deps } from '../deps.ts';
import { type Actor, type Handler, sourceOf } from '../http/handler.ts';
import {
  getMcpServerDetail,
  listMcpServers,
  type McpServerPatch,
  type NewMcpServer,
  deleteMcpServer as removeMcpServer,
  withdrawTrust,
} from './servers.ts';
import { changeMcpServer, createMcpServer, testMcpServer, trustMcpServer } from './trust.ts';

type HandlerDeps = Pick<Deps, 'db' | 'secrets' | 'mcp'>;
type McpHandler<Name extends keyof typeof mcpEndpoints> = Handler<HandlerDeps, (typeof mcpEndpoints)[Name]>;

/** MCP edit access (control-plane-api.md "Authentication" 4). */
export function canEditMcp(actor: Pick<Actor, 'role' | 'mcpSettingsEnabled'>): boolean {
  return actor.role === 'admin' || actor.mcpSettingsEnabled;
}

/** Owner of the servers of a request: the caller, or the user that an administrator names. */
type Owner = string;

const list = async (deps: HandlerDeps, owner: Owner, id: string | undefined, canEdit: boolean) =>
  id === undefined
    ? { servers: await listMcpServers(deps, owner), canEdit }
    : { server: await getMcpServerDetail(deps, owner, id), canEdit };

const create = async (deps: HandlerDeps, owner: Owner, body: NewMcpServer, source: AuditSource) => ({
  server: await createMcpServer(deps, owner, body, source),
});

const change = async (deps: HandlerDeps, owner: Owner, body: McpServerPatch, source: AuditSource) => ({
  server: await changeMcpServer(deps, owner, body, source),
});

const remove = async (deps: HandlerDeps, owner: Owner, id: string, source: AuditSource) => {
  await removeMcpServer(deps, owner, id, source);
  deps.mcp.drop(id);
  return { ok: true as const };
};

const trust = async (
  deps: HandlerDeps,
  owner: Owner,
  body: Parameters<typeof trustMcpServer>[2],
  source: AuditSource,
) => ({
  server: await trustMcpServer(deps, owner, body, source),
});

export const getMcpServers: McpHandler<'getMcpServers'> = async (deps, { actor, query }) => {
  const canEdit = canEditMcp(actor);
  if (query.id !== undefined && !canEdit) {
    throw new ApiError('mcp_settings_disabled', 'MCP settings are managed by an administrator');
  }
  return list(deps, actor.id, query.id, canEdit);
};
export const postMcpServer: McpHandler<'postMcpServer'> = (deps, input) =>
  create(deps, input.actor.id, input.body, sourceOf(input));
export const patchMcpServer: McpHandler<'patchMcpServer'> = (deps, input) =>
  change(deps, input.actor.id, input.body, sourceOf(input));
export const deleteMcpServer: McpHandler<'deleteMcpServer'> = (deps, input) =>
  remove(deps, input.actor.id, input.query.id, sourceOf(input));
export const postMcpTest: McpHandler<'postMcpTest'> = (deps, input) =>
  testMcpServer(deps, input.actor.id, input.body.id, sourceOf(input));
export const postMcpTrust: McpHandler<'postMcpTrust'> = (deps, input) =>
  trust(deps, input.actor.id, input.body, sourceOf(input));

/** DELETE /api/mcp/trust */
export const deleteMcpTrust: McpHandler<'deleteMcpTrust'> = async (deps, input) => {
  await withdrawTrust(deps, input.actor.id, input.query.id, sourceOf(input));
  return { ok: true };
};

/** The user whose servers an administrator's request is about. Throws `not_found` for an unknown user. */
async function targetUser(deps: HandlerDeps, query: { userId: string }): Promise<Owner> {
  await assertUser(deps, query.userId);
  return query.userId;
}

export const getUserMcpServers: McpHandler<'getUserMcpServers'> = async (deps, { query }) =>
  list(deps, await targetUser(deps, query), query.id, true);
export const postUserMcpServer: McpHandler<'postUserMcpServer'> = async (deps, input) =>
  create(deps, await targetUser(deps, input.query), input.body, sourceOf(input));
export const patchUserMcpServer: McpHandler<'patchUserMcpServer'> = async (deps, input) =>
  change(deps, await targetUser(deps, input.query), input.body, sourceOf(input));
export const deleteUserMcpServer: McpHandler<'deleteUserMcpServer'> = async (deps, input) =>
  remove(deps, await targetUser(deps, input.query), input.query.id, sourceOf(input));
export const postUserMcpTest: McpHandler<'postUserMcpTest'> = async (deps, input) =>
  testMcpServer(deps, await targetUser(deps, input.query), input.body.id, sourceOf(input));
export const postUserMcpTrust: McpHandler<'postUserMcpTrust'> = async (deps, input) =>
  trust(deps, await targetUser(deps, input.query), input.body, sourceOf(input));
