import type { ManifestConversation, ManifestHead, ManifestProvider, ManifestUser } from '@homeport/contracts/manifest';
import { secretPlaceholder } from '@homeport/contracts/manifest';
import { sql } from 'kysely';
import { installationOwner } from '../catalogue/catalogue-owner.ts';
import { findHeaders } from '../catalogue/credentials.ts';
import { readModels } from '../catalogue/models.ts';
import { readProviders } from '../catalogue/providers.ts';
import { readTiers } from '../catalogue/tiers.ts';
import type { ModelRow, ProviderRow } from '../catalogue/views.ts';
import type { Queryable } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import { readSettings } from '../settings/settings.ts';

/** The installation as the parts of a manifest, in one snapshot, page by page (contract section 10). */

type Needs = Pick<Platform, 'config' | 'secrets'>;
/** Is told what a manifest cannot say of this installation. */
export type OnLoss = (message: string) => void;

const usersPage = 200;
const chatsPage = 50;

/** Everything but users and conversations. Secrets are placeholders. */
export async function exportHead(deps: Needs, db: Queryable, onLoss: OnLoss): Promise<ManifestHead> {
  const { branding, oidc: stored } = await readSettings(db);
  const { clientSecret, ...oidc } = stored;
  const head: ManifestHead = {
    version: 1,
    branding,
    oidc: { ...oidc, ...(clientSecret === null ? {} : { clientSecret: secretPlaceholder }) },
  };
  if (deps.config.edition !== 'managed') return head;
  const catalogues = await readCatalogues(deps, db, [{ id: installationOwner, label: 'the installation' }], onLoss);
  return { ...head, ...catalogues.get(installationOwner) };
}

type UserRow = {
  id: string;
  email: string;
  name: string;
  role: ManifestUser['role'];
  enabled: boolean;
  providerSettingsEnabled: boolean;
  mcpSettingsEnabled: boolean;
  hasPassword: boolean;
};

/** All users by e-mail address, with their catalogues in the community edition. */
export async function* exportUsers(deps: Needs, db: Queryable, onLoss: OnLoss): AsyncGenerator<ManifestUser, void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<UserRow>`
      select u.id, u.email, u.name, u.role, u.enabled, u.provider_settings_enabled as "providerSettingsEnabled",
        u.mcp_settings_enabled as "mcpSettingsEnabled", exists (select from credentials c
          where c.user_id = u.id and c.provider_id = 'credential' and c.password is not null) as "hasPassword"
      from users u where u.email > ${after} order by u.email limit ${usersPage}`.execute(db);
    if (rows.length === 0) return;
    const owners = rows.map(({ id, email }) => ({ id, label: email }));
    const isManaged = deps.config.edition === 'managed';
    const catalogues = isManaged ? undefined : await readCatalogues(deps, db, owners, onLoss);
    for (const { id, hasPassword, providerSettingsEnabled, ...user } of rows) {
      yield {
        ...user,
        ...(hasPassword ? { password: secretPlaceholder } : {}),
        ...(catalogues === undefined ? {} : { providerSettingsEnabled, ...catalogues.get(id) }),
      };
      after = user.email;
    }
  }
}

type Catalogue = Pick<ManifestUser, 'modelTiers' | 'providers'>;

async function readCatalogues(
  deps: Needs,
  db: Queryable,
  owners: readonly { id: string; label: string }[],
  onLoss: OnLoss,
): Promise<Map<string, Catalogue>> {
  const ids = owners.map((owner) => owner.id);
  const tiers = await readTiers(db, ids);
  const providers = Map.groupBy(await readProviders(db, ids), (row) => row.owner_id);
  const models = Map.groupBy(await readModels(db, ids), (row) => row.provider_id);
  return new Map(
    owners.map(({ id, label }) => {
      const names = new Set<string>();
      const own = (providers.get(id) ?? []).map((row) => {
        const name = freeName(row.name, names);
        if (name !== row.name) onLoss(`${label} has two providers named "${row.name}": the second is "${name}" here`);
        return exportProvider(deps, { ...row, name }, models.get(row.id) ?? [], (loss) => onLoss(`${label}: ${loss}`));
      });
      const modelTiers = tiers.get(id);
      return [
        id,
        { ...(modelTiers === undefined ? {} : { modelTiers }), ...(own.length === 0 ? {} : { providers: own }) },
      ];
    }),
  );
}

/** Names are the keys of a manifest; here nothing keeps two providers from having the same. */
function freeName(name: string, names: Set<string>): string {
  let free = name;
  for (let number = 2; names.has(free); number += 1) free = `${name.slice(0, 90)} (${number})`;
  names.add(free);
  return free;
}

function exportProvider(deps: Needs, row: ProviderRow, rows: readonly ModelRow[], onLoss: OnLoss): ManifestProvider {
  const seen = new Set<string>();
  const models = rows.filter((model) => {
    const isFirst = !seen.has(model.provider_model_id);
    if (!isFirst) onLoss(`"${model.provider_model_id}" of "${row.name}" is there twice: the second is left out`);
    seen.add(model.provider_model_id);
    return isFirst;
  });
  const headers = exportHeaders(deps, row, onLoss);
  return {
    name: row.name,
    baseUrl: row.base_url,
    ...(row.api_key === null ? {} : { apiKey: secretPlaceholder }),
    ...(headers === undefined ? {} : { headers }),
    enabled: row.enabled,
    models: models.map((model) => ({
      providerModelId: model.provider_model_id,
      displayName: model.display_name,
      contextWindow: model.context_window,
      maxOutputTokens: model.max_output_tokens,
      tier: model.tier,
      enabled: model.enabled,
      ...(model.is_default ? { isDefault: true } : {}),
    })),
  };
}

/** Names only: a header's value may be a secret like any API key. */
function exportHeaders(deps: Needs, row: ProviderRow, onLoss: OnLoss): Record<string, string> | undefined {
  if (row.headers === null) return undefined;
  const found = findHeaders(deps, row, row.headers);
  if (found !== undefined) return Object.fromEntries(Object.keys(found.value).map((name) => [name, secretPlaceholder]));
  onLoss(`the headers of "${row.name}" cannot be read with the present key and are left out`);
  return undefined;
}

type ConversationRow = {
  id: string;
  ownerEmail: string;
  title: string;
  archived: boolean;
  created_at: Date;
  projectId: string | null;
  total: number;
};
type MessageRow = { chat_id: string; id: string; role: 'user' | 'assistant'; parts: string; created_at: Date };

/** All conversations, each with the branch that is shown, oldest first. */
export async function* exportConversations(db: Queryable, onLoss: OnLoss): AsyncGenerator<ManifestConversation, void> {
  let after = { at: new Date(0), id: '' };
  const lost = { branches: 0, projects: 0 };
  for (;;) {
    // A manifest's times are milliseconds: in their order, so that an export of what was imported has the same one.
    const { rows } = await sql<ConversationRow>`
      select c.id, u.email as "ownerEmail", c.title, c.archived, date_trunc('milliseconds', c.created_at) as created_at,
        c.project_id as "projectId", (select count(*)::int from messages m where m.chat_id = c.id) as total
      from chats c join users u on u.id = c.owner_id
      where (date_trunc('milliseconds', c.created_at), c.id) > (${after.at}, ${after.id})
      order by date_trunc('milliseconds', c.created_at), c.id limit ${chatsPage}`.execute(db);
    if (rows.length === 0) break;
    for (const { created_at, projectId, total, ...chat } of rows) {
      const messages = await readBranch(db, chat.id);
      if (messages.length < total) lost.branches += 1;
      if (projectId !== null) lost.projects += 1;
      yield { ...chat, createdAt: created_at.toISOString(), messages };
      after = { at: created_at, id: chat.id };
    }
  }
  if (lost.branches > 0)
    onLoss(`${lost.branches} conversations have other branches: only the one that is shown is here`);
  if (lost.projects > 0) onLoss(`${lost.projects} conversations are in projects, which a manifest does not know`);
}

async function readBranch(db: Queryable, chatId: string): Promise<ManifestConversation['messages']> {
  const { rows } = await sql<MessageRow>`
    with recursive branch as (
      select m.id, m.parent_id, 1 as depth from chats c join messages m on m.id = c.active_message_id and m.chat_id = c.id
      where c.id = ${chatId}
      union all
      select m.id, m.parent_id, b.depth + 1 from branch b join messages m on m.id = b.parent_id
    )
    select m.id, m.role, m.parts, m.created_at from branch b join messages m on m.id = b.id
    order by b.depth desc`.execute(db);
  return rows.map(({ id, role, parts, created_at }) => ({
    ...{ id, role, parts: JSON.parse(parts) },
    createdAt: created_at.toISOString(),
  }));
}
