import { ApiError } from '@homeport/contracts/errors';
import type { McpTool, ToolPolicy } from '@homeport/contracts/mcp/mcp';
import { z } from 'zod';
import type { Database } from '../db/pool.ts';
import type { Clock } from '../platform/clock.ts';
import { within } from '../platform/waits.ts';
import { mcpBounds } from './bounds.ts';
import type { CallObserver, Listing } from './connection/connection.ts';
import type { McpConnections } from './connection/connections.ts';
import type { Elicitation, ElicitationAnswer } from './connection/elicitation.ts';
import { mcpFailure, refusedAccess, serverWords } from './connection/failures.ts';
import { makePlain } from './connection/plain-messages.ts';
import { throttleLines } from './connection/progress-lines.ts';
import { recordDrift, recordDriftNotice, recordFailure } from './listing-records.ts';
import { nameTools } from './tool-names.ts';
import { type McpResult, readResult } from './tool-result.ts';
import { isTrustedListing } from './trusted-tools.ts';
import { type McpServerRow, parseDefinitions } from './views.ts';

/** The MCP tools in a turn (contract.md section 6): trusted definitions only, compared again before every call. */

export type TurnToolDeps = {
  db: Pick<Database, 'kysely'>;
  mcp: Pick<McpConnections, 'current' | 'list' | 'open' | 'standing' | 'noteRefusal'>;
  clock: Clock;
};

/** A notice to the person: a server was left out. */
export type McpNotice = {
  code: 'mcp_drifted' | 'mcp_unreachable' | 'mcp_sign_in';
  message: string;
  values: { server: string };
  /** The server to sign in to. */
  serverId?: string;
};

/** Callbacks of a call: `report` gets a progress line, which replaces the previous one; `ask` gets a question. */
type CallCallbacks = {
  report?: ((line: string) => void) | undefined;
  ask?: ((asked: Elicitation & { server: string }, signal: AbortSignal) => Promise<ElicitationAnswer>) | undefined;
};

/** A tool as it is offered to the model. */
export type McpTurnTool = {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** The owner's current policy for calls; `call` checks whether the server may still be used. */
  readPolicy(): Promise<ToolPolicy>;
  call(input: Record<string, unknown>, signal: AbortSignal, callbacks?: CallCallbacks): Promise<McpResult>;
  /** Reads a resource of the tool's server. */
  readResource(uri: string, signal: AbortSignal): Promise<McpResult>;
};

/** Columns of a server that a turn reads; without its last listing. */
const turnColumns = [
  'id',
  'owner_id',
  'name',
  'revision',
  'url',
  'transport',
  'headers',
  'connection',
  'command',
  'args',
  'env',
  'trust_state',
  'trusted_tools',
  'trusted_fingerprint',
  'trusted_with_offer',
  'volatile_texts',
  'fingerprint',
  'reviewed_fingerprint',
  'last_error',
] as const;
type TurnRow = Pick<McpServerRow, (typeof turnColumns)[number]>;
type TurnServer = TurnRow & { trusted: McpTool[] };
/** The conversation, and the receiver of notices about servers that are left out. */
type NoticeTarget = { chatId: string; notify(notice: McpNotice): void };

/**
 * The tools of the owner's enabled, trusted servers: those in `serverIds`, or all if null. Each server's current tools
 * are compared with the trusted ones; one that differs is marked drifted and left out, one that does not answer in time
 * is left out, and `notify` is called. The model sees only trusted definitions.
 */
export async function findMcpTools(
  deps: TurnToolDeps,
  request: {
    ownerId: string;
    chatId: string;
    serverIds: readonly string[] | null;
    /** Waits for a server as long as a connection may take, rather than only as long as a turn's beginning may. */
    isAwaited?: boolean;
  },
  notify: (notice: McpNotice) => void,
): Promise<McpTurnTool[]> {
  const rows = await usableServers(deps, request);
  const notices: NoticeTarget = { chatId: request.chatId, notify };
  const checked = await Promise.all(rows.map((row) => checkServer(deps, row, notices, request.isAwaited)));
  const tools = checked.flatMap((server) =>
    server === undefined
      ? []
      : server.trusted.map((tool) => ({
          serverId: server.id,
          serverName: server.name,
          toolName: tool.name,
          server,
          tool,
        })),
  );
  return [...nameTools(tools)].map(([name, { server, tool }]) => turnTool(deps, name, server, tool, notices));
}

async function usableServers(
  deps: TurnToolDeps,
  { ownerId, serverIds }: { ownerId: string; serverIds: readonly string[] | null },
): Promise<TurnRow[]> {
  if (serverIds !== null && serverIds.length === 0) return [];
  let query = deps.db.kysely
    .selectFrom('mcp_servers')
    .select(turnColumns)
    .where('owner_id', '=', ownerId)
    .where('enabled', '=', true)
    .where('trust_state', '!=', 'untrusted')
    .orderBy('seq');
  if (serverIds !== null) query = query.where('id', 'in', [...serverIds]);
  return query.execute();
}

async function checkServer(
  deps: TurnToolDeps,
  row: TurnRow,
  notices: NoticeTarget,
  isAwaited = false,
): Promise<TurnServer | undefined> {
  if (row.trust_state !== 'trusted') {
    await notifyDrift(deps, row, row.fingerprint, notices);
    return undefined;
  }
  const listing = await (isAwaited ? deps.mcp.current(row) : withPausesExcluded(deps, row)).catch((error) =>
    mcpFailure(error),
  );
  if (listing instanceof ApiError) {
    await recordFailure(deps.db.kysely, row, listing.message);
    if (refusedAccess(listing) !== undefined) notifySignIn(row, notices);
    else
      notices.notify({
        code: 'mcp_unreachable',
        message: `The MCP server “${row.name}” could not be used, so its tools are unavailable. ${listing.message}`,
        values: { server: row.name },
      });
    return undefined;
  }
  if (!isTrustedListing(row, listing)) {
    await reportDrift(deps, row, listing, notices);
    return undefined;
  }
  if (row.last_error !== null) await recordFailure(deps.db.kysely, row, null);
  return { ...row, trusted: parseDefinitions(row.trusted_tools ?? '[]') };
}

/** The current listing, or a refusal after a while; the wait continues in the background, for the next turn. */
async function withPausesExcluded(deps: TurnToolDeps, row: TurnRow): Promise<Listing> {
  const standing = deps.mcp.standing(row);
  if (standing !== undefined) return standing;
  const listing = deps.mcp.current(row);
  listing.catch(() => undefined);
  const tooLate = (): Error => new ApiError('mcp_unreachable', 'It has not responded yet.');
  const milliseconds = row.transport === 'stdio' ? mcpBounds.programPatienceMs : mcpBounds.turnPatienceMs;
  return within({ clock: deps.clock, milliseconds, tooLate }, () => listing);
}

function turnTool(
  deps: TurnToolDeps,
  name: string,
  server: TurnServer,
  tool: McpTool,
  notices: NoticeTarget,
): McpTurnTool {
  const schema = tool.inputSchema as Record<string, unknown>;
  return {
    name,
    description: tool.description ?? tool.title ?? '',
    inputSchema: schema.type === undefined ? { type: 'object', ...schema } : schema,
    async readPolicy() {
      const policies = await readPolicies(deps, server);
      return policies === undefined ? 'allow' : policyOf(policies, tool.name);
    },
    async call(input, signal, { report = () => undefined, ask } = {}) {
      const progress = throttleLines(deps.clock, report);
      const onAsked = ask && ((asked: Elicitation, own: AbortSignal) => ask({ ...asked, server: server.name }, own));
      try {
        return await callTool(deps, server, tool, input, { signal, onProgress: progress.push, onAsked }, notices);
      } finally {
        progress.end();
      }
    },
    readResource: (uri, signal) => readLinked(deps, { server, tool, uri }, signal, notices),
  };
}

const contentsShape = z.looseObject({ contents: z.array(z.unknown()) });

/** The contents of a resource, as the result of a tool that embeds them. */
async function readLinked(
  deps: TurnToolDeps,
  { server, tool, uri }: { server: TurnServer; tool: McpTool; uri: string },
  signal: AbortSignal,
  notices: NoticeTarget,
): Promise<McpResult> {
  if (!(await mayCall(deps, server, tool))) return withdrawn;
  return callOnce(
    deps,
    server,
    async () => {
      const listing = await deps.mcp.current(server);
      if (!isTrustedListing(server, listing)) {
        throw new ApiError('mcp_tools_changed', 'The server has changed its tools since they were trusted.');
      }
      const connection = await deps.mcp.open(server);
      const { contents } = await connection.ask('resources/read', { uri }, contentsShape, signal);
      const result = { content: contents.map((resource) => ({ type: 'resource', resource })) };
      makePlain({ result });
      return result;
    },
    signal,
    notices,
  );
}

/** The policies of a server that has not changed since the turn began; undefined if it may no longer be used. */
async function readPolicies(deps: TurnToolDeps, server: TurnServer): Promise<Record<string, ToolPolicy> | undefined> {
  const row = await deps.db.kysely
    .selectFrom('mcp_servers')
    .select('tool_policies')
    .where('id', '=', server.id)
    .where('revision', '=', server.revision)
    .where('enabled', '=', true)
    .where('trust_state', '=', 'trusted')
    .where('trusted_fingerprint', '=', server.trusted_fingerprint)
    .executeTakeFirst();
  return row?.tool_policies;
}

/** A server may name a tool like a member that every object inherits. */
function policyOf(policies: Record<string, ToolPolicy>, name: string): ToolPolicy {
  return Object.hasOwn(policies, name) ? (policies[name] ?? 'allow') : 'allow';
}

const attempts = 3;
const withdrawn = { errorText: 'Not called: the owner has withdrawn this MCP server or this tool.' };

async function mayCall(deps: TurnToolDeps, server: TurnServer, tool: McpTool): Promise<boolean> {
  const policies = await readPolicies(deps, server);
  return policies !== undefined && policyOf(policies, tool.name) !== 'deny';
}

/**
 * Calls a tool once, after the server has listed its tools again and they are the trusted ones. If the server announces
 * a change between the listing and the call, lists again. A call is never repeated.
 */
async function callTool(
  deps: TurnToolDeps,
  server: TurnServer,
  tool: McpTool,
  input: Record<string, unknown>,
  { signal, ...observer }: { signal: AbortSignal } & CallObserver,
  notices: NoticeTarget,
): Promise<McpResult> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (!(await mayCall(deps, server, tool))) return withdrawn;
    const listing = await deps.mcp.list(server).catch((error) => signInError(server, error, notices));
    if ('errorText' in listing) return listing;
    if (!isTrustedListing(server, listing)) {
      await reportDrift(deps, server, listing, notices);
      return {
        errorText: `Not called: the tools of the MCP server “${server.name}” have changed since they were trusted.`,
      };
    }
    if (!(await mayCall(deps, server, tool))) return withdrawn;
    signal.throwIfAborted();
    const connection = await deps.mcp.open(server);
    // No await between this check and sending the call: no further change can arrive in between.
    const { latest, changes } = connection;
    if (latest?.changes !== changes || !isTrustedListing(server, latest)) continue;
    return callOnce(deps, server, () => connection.call(tool, input, signal, observer), signal, notices);
  }
  return { errorText: `Not called: the MCP server “${server.name}” keeps changing its tools.` };
}

/** A sign-in that ended during the turn; anything else is thrown on. */
function signInError(server: TurnServer, error: unknown, notices: NoticeTarget): { errorText: string } {
  if (refusedAccess(error) === undefined) throw error;
  notifySignIn(server, notices);
  return { errorText: `Not called: ${mcpFailure(error).message} The person can sign in and ask again.` };
}

async function callOnce(
  deps: TurnToolDeps,
  server: TurnServer,
  call: () => Promise<unknown>,
  signal: AbortSignal,
  notices: NoticeTarget,
): Promise<McpResult> {
  try {
    return readResult(await call());
  } catch (error) {
    if (signal.aborted) throw error;
    if (refusedAccess(error) !== undefined) {
      await deps.mcp.noteRefusal(server, error);
      return signInError(server, error, notices);
    }
    const words = serverWords(error);
    if (words !== undefined) return { errorText: `The MCP server refused the call: ${words}` };
    return { errorText: `${mcpFailure(error).message} The tool may have had an effect all the same.` };
  }
}

/** The answer continues without the server; signing in takes effect with the next one. */
function notifySignIn({ id, name }: TurnRow, notices: NoticeTarget): void {
  const message = `The MCP server “${name}” asks you to sign in. Sign in, then ask again to use its tools.`;
  notices.notify({ code: 'mcp_sign_in', message, values: { server: name }, serverId: id });
}

async function reportDrift(deps: TurnToolDeps, row: TurnRow, listing: Listing, notices: NoticeTarget): Promise<void> {
  await recordDrift(deps.db.kysely, row, listing);
  await notifyDrift(deps, row, listing.fingerprint, notices);
}

/** Notifies once per conversation and definitions, unless the owner has reviewed them. */
async function notifyDrift(
  deps: TurnToolDeps,
  row: TurnRow,
  fingerprint: string | null,
  notices: NoticeTarget,
): Promise<void> {
  if (fingerprint !== null) {
    if (fingerprint === row.reviewed_fingerprint) return;
    if (!(await recordDriftNotice(deps.db.kysely, row.id, notices.chatId, fingerprint))) return;
  }
  notices.notify({
    code: 'mcp_drifted',
    message: row.trusted_with_offer
      ? `The tools of the MCP server “${row.name}” have changed since an administrator trusted them. They stay unavailable until the changes are reviewed and trusted.`
      : `The tools of the MCP server “${row.name}” have changed since you trusted them. They stay unavailable until you review and trust the changes.`,
    values: { server: row.name },
  });
}
