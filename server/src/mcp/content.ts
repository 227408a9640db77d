import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { McpContent, McpPrompt, McpResource, mcpContentEndpoints } from '@homeport/contracts/mcp/content';
import { z } from 'zod';
import type { Database } from '../db/pool.ts';
import type { Clock } from '../platform/clock.ts';
import { within } from '../platform/waits.ts';
import { mcpBounds } from './bounds.ts';
import type { McpConnection } from './connection/connection.ts';
import type { McpConnections } from './connection/connections.ts';
import { mcpFailure, serverWords } from './connection/failures.ts';
import { getOwnedMcpServer } from './servers.ts';
import { plainBase64 } from './tool-result.ts';
import { isTrustedListing } from './trusted-tools.ts';
import type { McpServerRow } from './views.ts';

/**
 * Resources and prompts of trusted servers. Everything here is a stranger's text: bounded, and for a person to look at
 * before any model does.
 */

type ContentDeps = {
  db: Pick<Database, 'kysely'>;
  mcp: Pick<McpConnections, 'current' | 'open' | 'isOpen' | 'noteRefusal'>;
  clock: Clock;
};

type Resources = z.output<(typeof mcpContentEndpoints)['getMcpResources']['response']>;

const maybeText = z.string().nullish().catch(null);
const named = { name: z.string().min(1).max(mcpBounds.toolName), title: maybeText, description: maybeText };
const resourceShape = z.object({
  ...named,
  uri: z.string().min(1).max(limits.mcpUriMax),
  mimeType: maybeText,
  size: z.number().int().min(0).nullish().catch(null),
});
const templateShape = z.object({ ...named, uriTemplate: z.string().min(1).max(limits.mcpUriMax), mimeType: maybeText });
const argumentShape = z.object({ ...named, required: z.boolean().nullish().catch(false) });
const promptShape = z.object({ ...named, arguments: z.array(z.unknown()).nullish().catch([]) });
const contentShape = z.object({
  uri: z.string().max(limits.mcpUriMax),
  mimeType: maybeText,
  text: z.string().nullish(),
  blob: z.string().nullish(),
});
const messageShape = z.object({ role: z.enum(['user', 'assistant']), content: z.looseObject({ type: z.string() }) });

/** The resources of a server and templates of their addresses. Throws what `McpConnections.list` throws. */
export async function listResources(deps: ContentDeps, owner: string, id: string): Promise<Resources> {
  return withTrusted(deps, owner, id, async (connection) => {
    if (!connection.offers('resources')) return { resources: [], templates: [] };
    const resources = await listed(deps, connection, 'resources/list', 'resources', resourceShape);
    // Many servers that have resources know no templates.
    const templates = await listed(
      deps,
      connection,
      'resources/templates/list',
      'resourceTemplates',
      templateShape,
    ).catch((error) => (serverWords(error) === undefined ? Promise.reject(error) : []));
    return {
      resources: resources.map(({ mimeType, size, ...each }): McpResource => {
        return { ...textsOf(each), uri: each.uri, mediaType: mediaTypeOf(mimeType), size: size ?? null };
      }),
      templates: templates.map(({ mimeType, ...each }) => {
        return { ...textsOf(each), uriTemplate: each.uriTemplate, mediaType: mediaTypeOf(mimeType) };
      }),
    };
  });
}

/** Reads a resource. Its contents are never followed anywhere. */
export async function readResource(deps: ContentDeps, owner: string, { id, uri }: { id: string; uri: string }) {
  return withTrusted(deps, owner, id, async (connection) => {
    const { contents } = await connection.ask(
      'resources/read',
      { uri },
      z.looseObject({ contents: z.array(z.unknown()) }),
    );
    const read = contents.slice(0, mcpBounds.files).flatMap((raw): McpContent[] => {
      const { data: each } = contentShape.safeParse(raw);
      const isText = typeof each?.text === 'string';
      const data = isText ? undefined : plainBase64(each?.blob);
      if (each === undefined || (!isText && data === undefined)) return [];
      const mediaType = mediaTypeOf(each.mimeType) ?? (isText ? 'text/plain' : 'application/octet-stream');
      const filename = filenameOf(each.uri, mediaType);
      return [{ uri: each.uri, filename, mediaType, text: each.text ?? null, data: data ?? null }];
    });
    if (read.length === 0) throw unusable('it sent no content for this resource');
    return { contents: read };
  });
}

/** The prompts of all servers that answer in time. A program is not started for them. */
export async function listPrompts(deps: ContentDeps, owner: string): Promise<{ prompts: McpPrompt[] }> {
  const rows = await deps.db.kysely
    .selectFrom('mcp_servers')
    .selectAll()
    .where('owner_id', '=', owner)
    .where('enabled', '=', true)
    .where('trust_state', '=', 'trusted')
    .orderBy('seq')
    .execute();
  const asked = rows.filter((row) => row.transport !== 'stdio' || deps.mcp.isOpen(row));
  const tooLate = (): Error => unusable('it has not responded yet');
  const found = await Promise.all(
    asked.map((row) =>
      within({ clock: deps.clock, milliseconds: mcpBounds.turnPatienceMs, tooLate }, () => promptsOf(deps, row)).catch(
        () => [],
      ),
    ),
  );
  return { prompts: found.flat() };
}

async function promptsOf(deps: ContentDeps, row: McpServerRow): Promise<McpPrompt[]> {
  const connection = await openTrusted(deps, row);
  if (!connection.offers('prompts')) return [];
  const prompts = await listed(deps, connection, 'prompts/list', 'prompts', promptShape);
  return prompts.map((each) => ({
    serverId: row.id,
    serverName: row.name,
    ...textsOf(each),
    arguments: (each.arguments ?? []).slice(0, limits.mcpPromptArguments).flatMap((raw) => {
      const { data } = argumentShape.safeParse(raw);
      return data === undefined
        ? []
        : [{ name: data.name, description: cut(data.description), required: data.required === true }];
    }),
  }));
}

/** A prompt with its arguments as one text for the composer. */
export async function getPrompt(
  deps: ContentDeps,
  owner: string,
  { id, name, arguments: given = {} }: { id: string; name: string; arguments?: Record<string, string> | undefined },
): Promise<{ text: string; leftOut: number }> {
  return withTrusted(deps, owner, id, async (connection) => {
    const shape = z.looseObject({ messages: z.array(z.unknown()) });
    const { messages } = await connection.ask('prompts/get', { name, arguments: given }, shape);
    let leftOut = 0;
    const texts = messages.slice(0, mcpBounds.promptMessages).flatMap((raw) => {
      const { data } = messageShape.safeParse(raw);
      const text = data === undefined ? undefined : textOfBlock(data.content);
      if (text === undefined) leftOut += 1;
      if (text === undefined || text.trim() === '') return [];
      return [data?.role === 'assistant' ? `Assistant: ${text}` : text];
    });
    const text = texts.join('\n\n');
    if (text.length > limits.mcpPromptTextMax) throw unusable('its prompt is too long');
    return { text, leftOut };
  });
}

function textOfBlock(block: Record<string, unknown>): string | undefined {
  if (block.type === 'text' && typeof block.text === 'string') return block.text;
  const { resource } = block;
  if (block.type !== 'resource' || typeof resource !== 'object' || resource === null) return undefined;
  return 'text' in resource && typeof resource.text === 'string' ? resource.text : undefined;
}

/** Runs `work` on a connection to the caller's server, as it was trusted; its failures become `mcp_unreachable`. */
async function withTrusted<T>(
  deps: ContentDeps,
  owner: string,
  id: string,
  work: (connection: McpConnection) => Promise<T>,
): Promise<T> {
  const row = await getOwnedMcpServer(deps.db.kysely, owner, id);
  if (!row.enabled || row.trust_state !== 'trusted') throw notTrusted();
  try {
    return await work(await openTrusted(deps, row));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    await deps.mcp.noteRefusal(row, error);
    const words = serverWords(error);
    throw words === undefined ? mcpFailure(error) : unusable(words);
  }
}

/** The same rule as for tools: another listing than the trusted one is left alone. */
async function openTrusted(deps: ContentDeps, row: McpServerRow): Promise<McpConnection> {
  const listing = await deps.mcp.current(row);
  if (!isTrustedListing(row, listing)) throw notTrusted();
  return deps.mcp.open(row);
}

/** Every page of a list, without the entries that cannot be read; all of them in the time of one listing. */
function listed<S extends z.ZodType>(
  { clock }: ContentDeps,
  connection: McpConnection,
  method: string,
  member: string,
  shape: S,
): Promise<z.output<S>[]> {
  const tooLate = (): Error => unusable('it did not answer in time');
  return within({ clock, milliseconds: mcpBounds.listMs, tooLate }, async (signal) => {
    const found: z.output<S>[] = [];
    const page = z.looseObject({ [member]: z.array(z.unknown()), nextCursor: z.string().nullish().catch(null) });
    let cursor: string | undefined;
    let size = 0;
    for (let pages = 0; pages < mcpBounds.pages && found.length < limits.mcpListed; pages += 1) {
      const result = await connection.ask(method, cursor === undefined ? {} : { cursor }, page, signal);
      const items = (result as Record<string, unknown>)[member];
      for (const raw of Array.isArray(items) ? items.slice(0, limits.mcpListed - found.length) : []) {
        const parsed = shape.safeParse(raw);
        if (parsed.success) found.push(parsed.data);
      }
      size += JSON.stringify(items).length;
      const next = result.nextCursor;
      if (typeof next !== 'string' || next === cursor || size > mcpBounds.listBytes) break;
      cursor = next;
    }
    return found;
  });
}

type Texts = { name: string; title?: string | null; description?: string | null };

function textsOf({ name, title, description }: Texts) {
  return { name, title: cut(title), description: cut(description) };
}

function cut(text: string | null | undefined): string | null {
  return text === undefined || text === null || text === ''
    ? null
    : text.slice(0, mcpBounds.describedText).toWellFormed();
}

function mediaTypeOf(value: string | null | undefined): string | null {
  const type = value?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60}$/.test(type) ? type : null;
}

/** The last part of the address, with an ending by which its kind is known. */
function filenameOf(uri: string, mediaType: string): string {
  const last = uri.split(/[/?#]/).findLast((piece) => piece !== '') ?? '';
  const name = decoded(last)
    .replace(/[\p{Cc}/\\:*?"<>|]+/gu, '-')
    .slice(0, 100)
    .toWellFormed();
  const plain = name === '' || /^\.+$/.test(name) ? 'resource' : name;
  return plain.includes('.') || mediaType !== 'text/plain' ? plain : `${plain}.txt`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function notTrusted(): ApiError {
  return new ApiError('mcp_tools_changed', 'This MCP server is not trusted as it is now. Review its tools first.');
}

function unusable(text: string): ApiError {
  return new ApiError('mcp_unreachable', `The MCP server could not be used: ${text}.`, {
    details: { reason: 'content' },
  });
}
