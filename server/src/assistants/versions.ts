import type { AssistantChange } from '@homeport/contracts/assistants';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { type Selectable, sql } from 'kysely';
import { modelNotFound } from '../catalogue/models.ts';
import { isVisibleModel, sharedTiers, withSharedTiers } from '../catalogue/sharing.ts';
import { listTiers } from '../catalogue/tiers.ts';
import type { Queryable } from '../db/pool.ts';
import type { AssistantVersionsTable } from '../db/tables/catalogue.ts';
import { assertOwnedMcpServers } from '../mcp/servers.ts';
import { imageTypeOf } from '../settings/image-data-url.ts';
import type { Looker } from './assistant-view.ts';
import { storeFiles } from './knowledge.ts';
import type { Shared } from './sharing.ts';

/** Content of assistants, version by version. This file alone writes the table `assistant_versions`. */

const columns = [
  'name',
  'description',
  'icon',
  'instructions',
  'model_id',
  'provider_model_id',
  'tier',
  'parameters',
  'mcp_server_ids',
  'workspace',
  'starters',
] as const;
export type StoredContent = Pick<Selectable<AssistantVersionsTable>, (typeof columns)[number]>;

/** An assistant that changes nothing but its name. */
export function newContent(name: string): StoredContent {
  return {
    name,
    description: '',
    icon: null,
    instructions: null,
    model_id: null,
    provider_model_id: null,
    tier: null,
    parameters: {},
    mcp_server_ids: null,
    workspace: true,
    starters: [],
  };
}

/** The newest version of an assistant, or the given one. */
export async function readContent(db: Queryable, id: string, version?: number): Promise<StoredContent> {
  return db
    .selectFrom('assistant_versions')
    .select(columns)
    .where('assistant_id', '=', id)
    .$if(version !== undefined, (query) => query.where('version', '=', version ?? 0))
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
}

type Change = Partial<Omit<AssistantChange, 'id' | 'restoreVersion'>>;

/**
 * The content with what is given. Models, tiers and MCP servers are the editor's own: throws `not_found` for others,
 * and `invalid_request`.
 */
export async function withChanges(
  trx: Queryable,
  editor: Looker,
  content: StoredContent,
  change: Change,
): Promise<StoredContent> {
  const { name, description, icon, instructions, modelId, tier, parameters, mcpServerIds, workspace, starters } =
    change;
  if (typeof icon === 'string' && !isPicture(icon)) throw invalid('icon', pictureFault);
  if (typeof tier === 'number') await assertKnownTier(trx, editor, tier);
  await assertOwnedMcpServers(trx, editor.id, mcpServerIds ?? []);
  const model = modelId === undefined ? {} : await modelColumns(trx, editor, modelId);
  return {
    ...content,
    ...given({ name, description, icon, tier, parameters, workspace, starters }),
    ...given({ instructions: instructions === '' ? null : instructions }),
    ...given({ mcp_server_ids: Array.isArray(mcpServerIds) ? [...new Set(mcpServerIds)] : mcpServerIds }),
    ...model,
  };
}

function given<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };
}

/** The names of what differs, as the wire has them. */
export function changedMembers(before: StoredContent, after: StoredContent): string[] {
  return columns
    .filter((column) => column !== 'provider_model_id' && canonical(before[column]) !== canonical(after[column]))
    .map((column) => wireNames[column] ?? column);
}

const wireNames: Partial<Record<(typeof columns)[number], string>> = {
  model_id: 'modelId',
  mcp_server_ids: 'mcpServerIds',
};

/** The database keeps the members of an object in an order of its own. */
function canonical(value: unknown): string {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return JSON.stringify(isObject ? Object.entries(value).sort() : value);
}

type NewVersion = {
  id: string;
  version: number;
  authorId: string | null;
  shared: Shared;
  content: StoredContent;
  /** True if it only adds files to the version before it. */
  addsFiles?: boolean;
};

/** Stores versions with the present files; of more than are kept of one assistant, the oldest goes. */
export async function insertVersions(trx: Queryable, versions: readonly NewVersion[]): Promise<void> {
  const rows = versions.map(({ id, version, authorId, shared, content, addsFiles = false }) => ({
    ...content,
    assistant_id: id,
    version,
    author_id: authorId,
    audience: shared.audience,
    project_id: shared.project_id,
    parameters: JSON.stringify(content.parameters),
    mcp_server_ids: content.mcp_server_ids === null ? null : JSON.stringify(content.mcp_server_ids),
    starters: JSON.stringify(content.starters),
    adds_files: addsFiles,
    // Of the statement: two versions of one transaction stay in their order.
    created_at: sql<Date>`clock_timestamp()`,
  }));
  await trx.insertInto('assistant_versions').values(rows).execute();
  await storeFiles(trx, versions);
  for (const { id, version } of versions) {
    if (version <= limits.versionsKept) continue;
    const old = trx.deleteFrom('assistant_versions').where('assistant_id', '=', id);
    await old.where('version', '<=', version - limits.versionsKept).execute();
  }
}

async function modelColumns(trx: Queryable, editor: Looker, id: string | null) {
  if (id === null) return { model_id: null, provider_model_id: null };
  const { rows } = await sql<{ provider_model_id: string }>`
    select m.provider_model_id from (select ${editor.catalogue}::text as id) editor join models m on m.id = ${id}
    where ${sql.raw(isVisibleModel('m', 'editor.id'))}`.execute(trx);
  const row = rows[0];
  if (row === undefined) throw modelNotFound();
  return { model_id: id, provider_model_id: row.provider_model_id };
}

/** Returns the tiers of the owner of this catalogue, including those of models shared with them. */
export async function knownTiers(trx: Queryable, catalogue: string) {
  const own = await listTiers({ db: { kysely: trx } }, catalogue);
  return withSharedTiers(own, await sharedTiers(trx, catalogue));
}

async function assertKnownTier(trx: Queryable, editor: Looker, tier: number): Promise<void> {
  const tiers = await knownTiers(trx, editor.catalogue);
  if (tiers.some(({ value }) => value === tier)) return;
  throw invalid('tier', `One of ${tiers.map(({ value }) => value).join(', ')}`);
}

/** False for a data URL whose bytes are not a picture: its media type is untrusted. An emoji is a picture. */
export function isPicture(icon: string): boolean {
  return !icon.startsWith('data:') || imageTypeOf(icon) !== undefined;
}

export const pictureFault =
  'The content is not a PNG, JPEG or WebP picture, or does not match the type in the data URL';

function invalid(path: string, message: string): ApiError {
  return new ApiError('invalid_request', `The request is not valid. ${path}: ${message}`, {
    details: [{ path, message }],
  });
}
