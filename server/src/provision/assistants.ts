import type { FieldError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql, type Transaction } from 'kysely';
import { insertAssistants, storeVersion } from '../assistants/assistants.ts';
import type { Shared } from '../assistants/sharing.ts';
import { changedMembers, isPicture, newContent, pictureFault, type StoredContent } from '../assistants/versions.ts';
import { catalogueOwner } from '../catalogue/catalogue-owner.ts';
import type { Tables } from '../db/tables/tables.ts';
import type { Platform } from '../platform.ts';
import { manifestError } from './manifest/manifest.ts';
import type { AssistantEntry } from './manifest/manifest-reader.ts';
import { ownersOf } from './owners.ts';
import type { Report } from './report.ts';

type Stored = Shared & { id: string; email: string; content: StoredContent };
type ModelRow = { id: string; owner_id: string; provider: string; provider_model_id: string };

/**
 * Upserts assistants by owner and name, batch by batch; of several with one name the first in the manifest is the
 * oldest stored. Each one that differs gets a version. Throws `invalid_request` with paths.
 */
export class AssistantsOfManifest {
  readonly #deps: Pick<Platform, 'config'>;
  readonly #trx: Transaction<Tables>;
  readonly #report: Report;
  readonly #authorId: string | null;
  /** How many of each owner and name came in this manifest. */
  readonly #seen = new Map<string, number>();

  constructor(deps: Pick<Platform, 'config'>, trx: Transaction<Tables>, report: Report, authorId: string | null) {
    this.#deps = deps;
    this.#trx = trx;
    this.#report = report;
    this.#authorId = authorId;
  }

  async apply(entries: readonly AssistantEntry[]): Promise<void> {
    if (entries.length === 0) return;
    assertPictures(entries);
    const owners = await ownersOf(this.#trx, 'assistants', entries);
    const stored = Map.groupBy(await this.#read([...owners.values()]), keyOf);
    const models = await this.#readModels(entries, [...owners.values()]);
    const added: { entry: AssistantEntry; shared: Shared; content: StoredContent }[] = [];
    for (const entry of entries) {
      const ownerId = owners.get(entry.ownerEmail) ?? '';
      const key = keyOf({ email: entry.ownerEmail, content: entry });
      const place = this.#seen.get(key) ?? 0;
      this.#seen.set(key, place + 1);
      const before = stored.get(key)?.[place];
      const content = this.#wanted(entry, before?.content ?? newContent(entry.name), ownerId, models);
      if (before !== undefined) await this.#change(entry, before, content);
      else
        added.push({
          entry,
          shared: { owner_id: ownerId, audience: entry.audience ?? 'me', project_id: null },
          content,
        });
    }
    await insertAssistants(this.#trx, added, this.#authorId);
    for (const { entry } of added) {
      this.#report.created('assistants', pathOf(entry), `assistant "${entry.name}" of ${entry.ownerEmail}`);
    }
    await this.#assertRoom(entries, owners);
  }

  async #change(entry: AssistantEntry, before: Stored, content: StoredContent): Promise<void> {
    const { audience = before.audience } = entry;
    const isShared = audience !== before.audience;
    const changed = [...changedMembers(before.content, content), ...(isShared ? ['audience'] : [])];
    this.#report.compared('assistants', pathOf(entry), `assistant "${entry.name}" of ${entry.ownerEmail}`, changed);
    if (changed.length === 0) return;
    const shared: Shared = isShared ? { owner_id: before.owner_id, audience, project_id: null } : before;
    await storeVersion(this.#trx, before.id, shared, content, this.#authorId);
  }

  #wanted(entry: AssistantEntry, before: StoredContent, ownerId: string, models: readonly ModelRow[]): StoredContent {
    const { description, icon, instructions, tier, parameters, workspace, starters, mcpServers } = entry;
    const { mcp_server_ids } = before;
    return {
      ...before,
      description: description ?? before.description,
      icon: icon === undefined ? before.icon : icon,
      instructions: instructions === undefined ? before.instructions : instructions || null,
      tier: tier === undefined ? before.tier : tier,
      parameters: parameters ?? before.parameters,
      workspace: workspace ?? before.workspace,
      starters: starters ?? before.starters,
      mcp_server_ids: mcpServers === undefined ? mcp_server_ids : mcpServers === 'none' ? [] : null,
      ...this.#model(entry, before, ownerId, models),
    };
  }

  /** With a provider, the owner's model of that name, the stored one if it is one of several; else the id alone. */
  #model(entry: AssistantEntry, before: StoredContent, ownerId: string, models: readonly ModelRow[]) {
    const { model } = entry;
    if (model === undefined) return {};
    if (model === null) return { model_id: null, provider_model_id: null };
    const { provider, providerModelId } = model;
    const isStored = before.provider_model_id === providerModelId;
    if (provider === undefined) {
      return { model_id: isStored ? before.model_id : null, provider_model_id: providerModelId };
    }
    const catalogue = catalogueOwner(this.#deps.config, ownerId);
    const fitting = models.filter(
      (row) => row.owner_id === catalogue && row.provider === provider && row.provider_model_id === providerModelId,
    );
    const found = fitting.find(({ id }) => id === before.model_id) ?? fitting[0];
    if (found === undefined) {
      this.#report.warn(`${pathOf(entry)}.model`, 'Its owner has no such model; readers who have one will use theirs');
    }
    return { model_id: found?.id ?? null, provider_model_id: providerModelId };
  }

  async #read(ownerIds: readonly string[]): Promise<Stored[]> {
    const rows = await this.#trx
      .selectFrom('assistants as a')
      .innerJoin('users as u', 'u.id', 'a.owner_id')
      .innerJoin('assistant_versions as v', (join) =>
        join.onRef('v.assistant_id', '=', 'a.id').onRef('v.version', '=', 'a.version'),
      )
      .selectAll('v')
      .select(['a.id', 'u.email', 'a.owner_id', 'a.audience', 'a.project_id'])
      .where('a.owner_id', 'in', ownerIds)
      .orderBy('a.created_at')
      .orderBy('a.id')
      .forNoKeyUpdate('a')
      .execute();
    return rows.map(({ id, email, owner_id, audience, project_id, ...version }) => {
      const { assistant_id: _, version: __, author_id: ___, created_at: ____, adds_files: _____, ...content } = version;
      return { id, email, owner_id, audience, project_id, content };
    });
  }

  /** The models that the entries may mean, oldest first. */
  async #readModels(entries: readonly AssistantEntry[], ownerIds: readonly string[]): Promise<ModelRow[]> {
    const ids = [...new Set(entries.flatMap(({ model }) => model?.providerModelId ?? []))];
    if (ids.length === 0) return [];
    const catalogues = new Set(ownerIds.map((id) => catalogueOwner(this.#deps.config, id)));
    return this.#trx
      .selectFrom('models as m')
      .innerJoin('providers as p', 'p.id', 'm.provider_id')
      .select(['m.id', 'm.owner_id', 'p.name as provider', 'm.provider_model_id'])
      .where('m.owner_id', 'in', [...catalogues])
      .where('m.provider_model_id', 'in', ids)
      .orderBy('p.seq')
      .orderBy('m.seq')
      .execute();
  }

  async #assertRoom(entries: readonly AssistantEntry[], owners: ReadonlyMap<string, string>): Promise<void> {
    const full = await fullOwners(this.#trx, 'assistants', [...owners.values()], limits.assistantsPerOwner);
    const details = entries.flatMap(({ index, ownerEmail }): FieldError[] => {
      const fault = full(owners.get(ownerEmail) ?? '');
      return fault === undefined ? [] : [{ path: `assistants.${index}`, message: fault }];
    });
    if (details.length > 0) throw manifestError(details);
  }
}

/** Tells what is too much: of an owner's, or of those for everyone. */
export async function fullOwners(
  trx: Transaction<Tables>,
  table: 'assistants' | 'prompts',
  ownerIds: readonly string[],
  max: number,
): Promise<(ownerId: string) => string | undefined> {
  const { rows } = await sql<{ owner_id: string; own: number }>`
    select owner_id, count(*)::int as own from ${sql.table(table)}
    where owner_id = any(${ownerIds}) and audience <> 'everyone' group by owner_id having count(*) > ${max}`.execute(
    trx,
  );
  const everyone = await sql<{ count: number }>`
    select count(*)::int as count from ${sql.table(table)} where audience = 'everyone'`.execute(trx);
  const crowded = new Set(rows.map(({ owner_id }) => owner_id));
  const isFull = (everyone.rows[0]?.count ?? 0) > limits.sharedWithEveryoneMax;
  return (ownerId) => {
    if (crowded.has(ownerId)) return `A person can have at most ${max} ${table}`;
    return isFull ? `At most ${limits.sharedWithEveryoneMax} ${table} for everyone` : undefined;
  };
}

function assertPictures(entries: readonly AssistantEntry[]): void {
  const details = entries
    .filter(({ icon }) => typeof icon === 'string' && !isPicture(icon))
    .map((entry) => ({ path: `${pathOf(entry)}.icon`, message: pictureFault }));
  if (details.length > 0) throw manifestError(details);
}

function pathOf({ index }: AssistantEntry): string {
  return `assistants.${index}`;
}

function keyOf({ email, content }: { email: string; content: { name: string } }): string {
  return `${email} ${content.name}`;
}
