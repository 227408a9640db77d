import { randomUUIDv7 } from 'node:crypto';
import type { Model, modelBody, modelPatchBody } from '@homeport/contracts/catalogue/catalogue';
import type { Abilities, FactName, FactSource, Lesson, Prices } from '@homeport/contracts/catalogue/model-facts';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { z } from 'zod';
import { changedFields } from '../audit/audit.ts';
import type { Database, Queryable } from '../db/pool.ts';
import type { Clock } from '../platform/clock.ts';
import { type CatalogueTransaction, inCatalogue, lockChatsOfModels } from './catalogue-owner.ts';
import { type ChangedBy, recordChange } from './changes.ts';
import { makeDefault, releaseDefault, settleDefault, settledDefault } from './default-model.ts';
import { forgetLessons, withLessons } from './lessons.ts';
import { factsToStore } from './model-facts.ts';
import { getOwnedProvider } from './providers.ts';
import { currentRegistry } from './registry/current-registry.ts';
import { isShared, isVisibleModel } from './sharing.ts';
import { storeStandIns, withStandIns } from './stand-ins.ts';
import { assertTier } from './tiers.ts';
import { type ModelRow, modelView } from './views.ts';

export type ModelDeps = { db: Pick<Database, 'kysely'>; clock: Clock };
type ModelInput = z.output<typeof modelBody>;
type ModelPatch = z.output<typeof modelPatchBody>;

/** Throws the same `not_found` for a missing and a foreign model. */
async function getOwnedModel(deps: { db: { kysely: Queryable } }, owner: string, id: string): Promise<ModelRow> {
  const row = await deps.db.kysely
    .selectFrom('models')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', owner)
    .executeTakeFirst();
  if (row === undefined) throw modelNotFound();
  return row;
}

/**
 * Throws `not_found` unless the model belongs to this owner, enabled or not, or is shared with them. In a transaction
 * it also cannot be deleted until the end, so that a reference to it can be stored.
 */
export async function assertVisibleModel(
  deps: { db: { kysely: Queryable } },
  owner: string,
  id: string,
): Promise<void> {
  const { kysely } = deps.db;
  const lock = kysely.isTransaction ? sql`for key share of m` : sql``;
  const { rows } = await sql`
    select m.id from (select ${owner}::text as id) reader join models m on m.id = ${id}
    where ${sql.raw(isVisibleModel('m', 'reader.id'))} ${lock}`.execute(kysely);
  if (rows.length === 0) throw modelNotFound();
}

/** Adds a model; the first usable one becomes the default, and so does one that requests it. */
export function createModel(deps: ModelDeps, owner: string, input: ModelInput, by?: ChangedBy): Promise<Model> {
  return inCatalogue(deps, owner, async (transaction) => {
    const within = { db: { kysely: transaction } };
    const provider = await getOwnedProvider(within, owner, input.providerId);
    const { base_url: baseUrl } = provider;
    const facts = await factColumns(within, { baseUrl, providerModelId: input.providerModelId }, input);
    await assertTier(transaction, owner, input.tier);
    await assertRoom(transaction, input.providerId);
    const { id } = await transaction
      .insertInto('models')
      .values({
        id: randomUUIDv7(),
        owner_id: owner,
        provider_id: input.providerId,
        provider_model_id: input.providerModelId,
        display_name: input.displayName,
        context_window: input.contextWindow,
        max_output_tokens: input.maxOutputTokens,
        tier: input.tier,
        enabled: input.enabled ?? true,
        parameters: JSON.stringify(input.parameters ?? {}),
        ...facts,
        created_at: new Date(deps.clock.now()),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const made = { id, name: input.displayName, isShared: isShared(provider) };
    await recordChange(transaction, owner, by, 'model.created', made);
    if (input.isDefault === true) await makeDefault(transaction, owner, id);
    else await settleDefault(transaction, owner);
    if (input.standIns !== undefined) await storeStandIns(transaction, owner, id, input.standIns);
    return viewOf(transaction, await getOwnedModel(within, owner, id), baseUrl);
  });
}

/** Changes a model; given values are checked together with those that stay. Also returns the default's id. */
export function updateModel(
  deps: ModelDeps,
  owner: string,
  patch: ModelPatch,
  by?: ChangedBy,
): Promise<{ model: Model; defaultModelId: string | null }> {
  return inCatalogue(deps, owner, async (transaction) => {
    const within = { db: { kysely: transaction } };
    const stored = await getOwnedModel(within, owner, patch.id);
    const provider = await getOwnedProvider(within, owner, stored.provider_id);
    const { base_url: baseUrl } = provider;
    if (patch.tier !== undefined) await assertTier(transaction, owner, patch.tier);
    const merged = {
      provider_model_id: patch.providerModelId ?? stored.provider_model_id,
      display_name: patch.displayName ?? stored.display_name,
      context_window: patch.contextWindow ?? stored.context_window,
      max_output_tokens: patch.maxOutputTokens ?? stored.max_output_tokens,
      tier: patch.tier ?? stored.tier,
      enabled: patch.enabled ?? stored.enabled,
    };
    const parameters = patch.parameters === undefined ? undefined : JSON.stringify(patch.parameters ?? {});
    assertOutputFits(merged, patch.maxOutputTokens === undefined ? 'contextWindow' : 'maxOutputTokens');
    if (stored.is_default && !merged.enabled) await releaseDefault(transaction, owner);
    await transaction
      .updateTable('models')
      .set({ ...merged, parameters, ...(await changedFacts(within, baseUrl, stored, patch)) })
      .where('id', '=', patch.id)
      .execute();
    if (patch.standIns !== undefined) await storeStandIns(transaction, owner, patch.id, patch.standIns);
    const { id, sources: _, ...given } = patch;
    const name = merged.display_name;
    const change = { id, name, changed: changedFields(given), isShared: isShared(provider) };
    await recordChange(transaction, owner, by, 'model.updated', change);
    if (patch.isDefault === true) await makeDefault(transaction, owner, patch.id);
    const defaultModelId = await settledDefault(transaction, owner);
    const row = await getOwnedModel(within, owner, patch.id);
    return { model: await viewOf(transaction, row, baseUrl), defaultModelId };
  });
}

/** Forgets the lessons of one kind. Returns the model. */
export async function forgetModelLessons(
  { db }: { db: Pick<Database, 'kysely'> },
  owner: string,
  { id, about }: { id: string; about: Lesson['about'] },
): Promise<Model> {
  const row = await getOwnedModel({ db }, owner, id);
  const { base_url: baseUrl } = await getOwnedProvider({ db }, owner, row.provider_id);
  await forgetLessons(db.kysely, id, about);
  return viewOf(db.kysely, row, baseUrl);
}

async function viewOf(db: Queryable, row: ModelRow, baseUrl: string): Promise<Model> {
  const view = modelView(row, baseUrl);
  const [model = view] = await withStandIns(db, await withLessons(db, [view]));
  return model;
}

type Within = { db: { kysely: Queryable } };
const factNames = ['displayName', 'contextWindow', 'maxOutputTokens', 'abilities', 'prices'] as const;

/** The columns for a new model's facts. */
async function factColumns(
  deps: Within,
  place: { baseUrl: string; providerModelId: string },
  given: Partial<Pick<ModelInput, (typeof factNames)[number] | 'sources'>>,
) {
  const names = factNames.filter((name) => given[name] !== undefined);
  const { abilities, prices, sources } = factsToStore(await currentRegistry(deps), place, given, names);
  return {
    abilities: JSON.stringify(abilities),
    prices: prices === null ? null : JSON.stringify(prices),
    sources: JSON.stringify(sources),
  };
}

/** Another id is another model: the registry's facts about it replace those about the previous one. */
async function changedFacts(deps: Within, baseUrl: string, stored: ModelRow, patch: ModelPatch) {
  const providerModelId = patch.providerModelId ?? stored.provider_model_id;
  const isOther = providerModelId !== stored.provider_model_id || stored.abilities === null;
  if (!isOther && factNames.every((name) => patch[name] === undefined)) return {};
  const kept = {
    ...(isOther && stored.sources.abilities !== 'person' ? {} : { abilities: stored.abilities ?? undefined }),
    ...(isOther && stored.sources.prices !== 'person' ? {} : { prices: stored.prices }),
  };
  const columns = await factColumns(
    deps,
    { baseUrl, providerModelId },
    {
      abilities: patch.abilities ?? kept.abilities,
      prices: patch.prices === undefined ? kept.prices : patch.prices,
    },
  );
  const own = JSON.parse(columns.sources);
  const given = Object.fromEntries(
    factNames.filter((name) => patch[name] !== undefined).map((name) => [name, patch.sources?.[name] ?? 'person']),
  );
  const before = isOther ? {} : stored.sources;
  return { ...columns, sources: JSON.stringify({ ...own, ...before, ...given }) };
}

/** Deletes a model and promotes another default if necessary. Returns the default's id. */
export function deleteModel(
  deps: { db: Pick<Database, 'kysely'> },
  owner: string,
  id: string,
  by?: ChangedBy,
): Promise<string | null> {
  return inCatalogue(deps, owner, async (transaction) => {
    const within = { db: { kysely: transaction } };
    const { display_name: name, provider_id: providerId } = await getOwnedModel(within, owner, id);
    const provider = await getOwnedProvider(within, owner, providerId);
    await recordChange(transaction, owner, by, 'model.deleted', { id, name, isShared: isShared(provider) });
    await lockChatsOfModels(transaction, [id]);
    await transaction.deleteFrom('models').where('id', '=', id).execute();
    return settledDefault(transaction, owner);
  });
}

/** The same answer for a missing model and someone else's. */
export function modelNotFound(): ApiError {
  return new ApiError('not_found', 'Model not found');
}

function assertOutputFits(model: { context_window: number; max_output_tokens: number }, path: string): void {
  if (model.max_output_tokens <= model.context_window) return;
  const message = 'The maximum output cannot exceed the context window';
  throw new ApiError('invalid_request', message, { details: [{ path, message }] });
}

async function assertRoom(transaction: CatalogueTransaction, providerId: string): Promise<void> {
  const { count } = await transaction
    .selectFrom('models')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('provider_id', '=', providerId)
    .executeTakeFirstOrThrow();
  if (count < limits.modelsPerProvider) return;
  const message = `At most ${limits.modelsPerProvider} models`;
  throw new ApiError('invalid_request', message, { details: [{ path: 'providerId', message }] });
}

/** A model row as written in a batch; default-model.ts decides which one is the default. */
export type ModelRecord = {
  id: string;
  owner: string;
  providerId: string;
  providerModelId: string;
  displayName: string;
  contextWindow: number;
  maxOutputTokens: number;
  tier: number;
  enabled: boolean;
  parameters: Parameters;
  abilities: Abilities | null;
  prices: Prices | null;
  sources: Partial<Record<FactName, FactSource>>;
};

/** The models of several owners, each owner's oldest first. */
export async function readModels(db: Queryable, owners: readonly string[]): Promise<ModelRow[]> {
  if (owners.length === 0) return [];
  return db.selectFrom('models').selectAll().where('owner_id', 'in', owners).orderBy('seq').execute();
}

/** Adds models in the given order, none of them a default; must be followed by `settleDefaults`. */
export async function insertModels(transaction: CatalogueTransaction, records: readonly ModelRecord[]): Promise<void> {
  if (records.length === 0) return;
  await sql`
    insert into models (id, owner_id, provider_id, provider_model_id, display_name, context_window, max_output_tokens, tier, enabled,
      parameters, abilities, prices, sources)
    select id, owner, "providerId", "providerModelId", "displayName", "contextWindow", "maxOutputTokens", tier, enabled, parameters,
      abilities, prices, sources
    from ${modelRecords(records)} order by place`.execute(transaction);
}

/** Updates existing models, whose owners and providers stay; must be followed by `settleDefaults`. */
export async function updateModels(transaction: CatalogueTransaction, records: readonly ModelRecord[]): Promise<void> {
  if (records.length === 0) return;
  await sql`
    update models m set provider_model_id = x."providerModelId", display_name = x."displayName",
      context_window = x."contextWindow", max_output_tokens = x."maxOutputTokens", tier = x.tier, enabled = x.enabled,
      parameters = x.parameters, abilities = x.abilities, prices = x.prices, sources = x.sources
    from ${modelRecords(records)} where m.id = x.id`.execute(transaction);
}

function modelRecords(records: readonly ModelRecord[]) {
  const rows = records.map((record, place) => ({ place, ...record }));
  return sql`json_to_recordset(${JSON.stringify(rows)}::json) as x (place int, id text, owner text, "providerId" text,
    "providerModelId" text, "displayName" text, "contextWindow" int, "maxOutputTokens" int, tier int, enabled boolean,
    parameters jsonb, abilities jsonb, prices jsonb, sources jsonb)`;
}
