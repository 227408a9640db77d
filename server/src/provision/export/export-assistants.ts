import type { Audience } from '@homeport/contracts/catalogue/sharing';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { ManifestAssistant, ManifestPrompt } from '@homeport/contracts/provision/manifest';
import { sql } from 'kysely';
import { installationOwner } from '../../catalogue/catalogue-owner.ts';
import type { Queryable } from '../../db/pool.ts';
import type { OnLoss } from './export.ts';

/**
 * Assistants, as their newest versions say, and saved prompts as the parts of a manifest, each owner's oldest first.
 */

const pageSize = 200;

type AssistantRow = Pick<
  Required<ManifestAssistant>,
  'ownerEmail' | 'name' | 'description' | 'icon' | 'instructions' | 'tier' | 'workspace' | 'starters'
> & {
  parameters: Parameters;
  audience: Audience;
  provider: string | null;
  provider_model_id: string | null;
  mcp_server_ids: string[] | null;
};

/**
 * `db` is a transaction. Applying a manifest leaves omitted fields as they are, so losses
 * change nothing.
 */
export async function* exportAssistants(db: Queryable, onLoss: OnLoss): AsyncGenerator<ManifestAssistant, void> {
  const lost = { projects: 0, servers: 0 };
  await sql`
    declare exported_assistants no scroll cursor for
      select u.email as "ownerEmail", v.name, v.description, v.icon, v.instructions, v.tier, v.parameters, v.workspace,
        v.starters, v.provider_model_id, v.mcp_server_ids, a.audience, p.name as provider
      from assistants a join users u on u.id = a.owner_id and u.deleted_at is null
      join assistant_versions v on v.assistant_id = a.id and v.version = a.version
      left join models m on m.id = v.model_id and m.provider_model_id = v.provider_model_id
        and m.owner_id in (a.owner_id, ${installationOwner})
      left join providers p on p.id = m.provider_id
      order by u.email, a.created_at, a.id`.execute(db);
  for await (const row of fetchAll<AssistantRow>(db, 'exported_assistants')) {
    const { parameters, audience, provider, provider_model_id, mcp_server_ids, ...rest } = row;
    if (audience === 'project') lost.projects += 1;
    if (mcp_server_ids !== null && mcp_server_ids.length > 0) lost.servers += 1;
    yield {
      ...rest,
      ...(audience === 'everyone' ? { audience } : {}),
      model:
        provider_model_id === null
          ? null
          : { ...(provider === null ? {} : { provider }), providerModelId: provider_model_id },
      parameters,
      ...(mcp_server_ids?.length === 0 ? { mcpServers: 'none' } : {}),
    };
  }
  await sql`close exported_assistants`.execute(db);
  if (lost.projects > 0)
    onLoss(`${lost.projects} assistants are shared with projects, which a manifest cannot describe`);
  if (lost.servers > 0) onLoss(`${lost.servers} assistants name MCP servers, which a manifest cannot describe`);
}

type PromptRow = Required<Pick<ManifestPrompt, 'ownerEmail' | 'name' | 'title' | 'text'>> & { audience: Audience };

/** `db` is a transaction. */
export async function* exportPrompts(db: Queryable, onLoss: OnLoss): AsyncGenerator<ManifestPrompt, void> {
  let projects = 0;
  await sql`
    declare exported_prompts no scroll cursor for
      select u.email as "ownerEmail", p.name, p.title, p.text, p.audience
      from prompts p join users u on u.id = p.owner_id and u.deleted_at is null order by u.email, p.created_at, p.id`.execute(
    db,
  );
  for await (const { audience, ...prompt } of fetchAll<PromptRow>(db, 'exported_prompts')) {
    if (audience === 'project') projects += 1;
    yield { ...prompt, ...(audience === 'everyone' ? { audience } : {}) };
  }
  await sql`close exported_prompts`.execute(db);
  if (projects > 0) onLoss(`${projects} prompts are shared with projects, which a manifest cannot describe`);
}

async function* fetchAll<Row>(db: Queryable, cursor: string): AsyncGenerator<Row, void> {
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(pageSize)} from ${sql.id(cursor)}`.execute(db);
    if (rows.length === 0) return;
    yield* rows;
  }
}
