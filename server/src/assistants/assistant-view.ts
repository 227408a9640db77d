import type { Assistant, AssistantVersion } from '@homeport/contracts/assistants';
import type { Audience } from '@homeport/contracts/catalogue/sharing';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { type RawBuilder, sql } from 'kysely';
import { microsOf } from '../db/keyset.ts';
import { readersModel, readersServers } from './readers-own.ts';
import { editable, type Reader } from './sharing.ts';

/**
 * Assistants as their readers see them. A reader gets ids of their own models and MCP servers only: those that the
 * assistant names, or the same ones in their own records. Of others they get only the number.
 */

/** The reader, and the catalogue they use. */
export type Looker = Reader & { catalogue: string };

type ContentRow = {
  name: string;
  description: string;
  icon: string | null;
  instructions: string | null;
  tier: number | null;
  parameters: Parameters;
  workspace: boolean;
  starters: string[];
  names_model: boolean;
  own_model_id: string | null;
  model_usable: boolean | null;
  names_servers: boolean;
  own_server_ids: string[] | null;
  servers_missing: number;
};

const contentColumns = sql`
  v.name, v.description, v.icon, v.instructions, v.tier, v.parameters, v.workspace, v.starters,
  v.provider_model_id is not null as names_model, model.id as own_model_id, model.usable as model_usable,
  v.mcp_server_ids is not null as names_servers, servers.ids as own_server_ids, servers.missing as servers_missing`;

function contentOf(reader: Looker): RawBuilder<unknown> {
  return sql`
    cross join (select ${reader.id}::text as id, ${reader.catalogue}::text as catalogue) reader
    left join lateral (${sql.raw(readersModel('reader.catalogue'))}) model on true
    left join lateral (${sql.raw(readersServers('reader.id'))}) servers on true`;
}

export type AssistantRow = ContentRow & {
  id: string;
  owner_id: string;
  owner_name: string;
  audience: Audience;
  project_id: string | null;
  version: number;
  can_edit: boolean;
  file_count: number;
  created_at: Date;
  updated_at: Date;
  updated_micros: number;
};

/** SQL: the assistants selected by `ids`, each with its newest version. The caller has checked access to them. */
export function assistantRows(reader: Looker, ids: RawBuilder<unknown>): RawBuilder<AssistantRow> {
  return sql<AssistantRow>`
    select a.id, a.owner_id, u.name as owner_name, a.audience, a.project_id, a.version, a.created_at,
      ${editable('a', reader)} as can_edit, v.created_at as updated_at,
      (select count(*)::int from artifacts f where f.assistant_id = a.id) as file_count,
      ${sql.raw(microsOf('v.created_at'))} as updated_micros, ${contentColumns}
    from assistants a join users u on u.id = a.owner_id
    join assistant_versions v on v.assistant_id = a.id and v.version = a.version
    ${contentOf(reader)} where a.id in (${ids}) order by v.created_at desc, a.id desc`;
}

export type VersionRow = ContentRow & {
  version: number;
  audience: Audience;
  author_id: string | null;
  author_name: string | null;
  files: AssistantVersion['files'];
  created_at: Date;
};

/** SQL: the versions of an assistant, newest first, for which `condition` holds of `a` and `v`. */
export function versionRows(reader: Looker, id: string, condition: RawBuilder<unknown>): RawBuilder<VersionRow> {
  return sql<VersionRow>`
    select v.version, v.audience, v.author_id, u.name as author_name, v.created_at,
      (select coalesce(json_agg(json_build_object('id', f.artifact_id, 'path', f.path, 'size', f.size, 'sha256', f.sha256)
        order by f.path), '[]')
        from assistant_version_files f where f.assistant_id = v.assistant_id and f.version = v.version) as files,
      ${contentColumns}
    from assistants a join assistant_versions v on v.assistant_id = a.id left join users u on u.id = v.author_id
    ${contentOf(reader)} where a.id = ${id} and ${condition} order by v.version desc`;
}

export function viewAssistant(row: AssistantRow): Assistant {
  return {
    id: row.id,
    ...viewContent(row),
    audience: row.audience,
    projectId: row.project_id,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    canEdit: row.can_edit,
    fileCount: row.file_count,
    version: row.version,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function viewVersion(row: VersionRow): AssistantVersion {
  return {
    ...viewContent(row),
    version: row.version,
    audience: row.audience,
    files: row.files,
    authorId: row.author_id,
    authorName: row.author_name,
    createdAt: row.created_at.toISOString(),
  };
}

function viewContent(row: ContentRow) {
  return {
    name: row.name,
    description: row.description,
    icon: row.icon,
    instructions: row.instructions,
    modelId: row.own_model_id,
    tier: row.tier,
    parameters: row.parameters,
    mcpServerIds: row.names_servers ? [...new Set(row.own_server_ids)] : null,
    workspace: row.workspace,
    starters: row.starters,
    missing: { model: row.names_model && row.model_usable !== true, mcpServers: row.servers_missing },
  };
}
