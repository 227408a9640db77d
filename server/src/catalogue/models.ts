import { randomUUIDv7 } from 'node:crypto';
import type { Model, modelBody, modelPatchBody } from '@homeport/contracts/catalogue';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { Parameters } from '@homeport/contracts/parameters';
import { sql } from 'kysely';
import type { z } from 'zod';
import { changedFields } from '../audit.ts';
import type { Clock } from '../clock.ts';
import type { Database, Queryable } from '../db/pool.ts';
import { type CatalogueTransaction, inCatalogue, lockChatsOfModels } from './catalogue-owner.ts';
import { type ChangedBy, recordChange } from './changes.ts';
import { makeDefault, releaseDefault, settleDefault } from './default-model.ts';
import { getOwnedProvider } from './providers.ts';
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
 * Throws `not_found` unless the model is this owner's, whether it is enabled or not. In a transaction the model also
 * stays until its end, so that a reference to it can be stored.
 */
export async function assertOwnedModel(deps: { db: { kysely: Queryable } }, owner: string, id: string): Promise<void> {
  const { kysely } = deps.db;
  const row = await kysely
    .selectFrom('models')
    .select('id')
    .where('id', '=', id)
    .where('owner_id', '=', owner)
    .$if(kysely.isTransaction, (query) => query.forKeyShare())
    .executeTakeFirst();
  if (row === undefined) throw modelNotFound();
}

/** Adds a model; the first usable one becomes the default, and so does one that asks for it. */
export function createModel(deps: ModelDeps, owner: string, input: ModelInput, by?: ChangedBy): Promise<Model> {
  return inCatalogue(deps, owner, async (transaction) => {
    await getOwnedProvider({ db: { kysely: transaction } }, owner, input.providerId);
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
        created_at: new Date(deps.clock.now()),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await recordChange(transaction, owner, by, 'model.created', { id, name: input.displayName });
    if (input.isDefault === true) await makeDefault(transaction, owner, id);
    else await settleDefault(transaction, owner);
    return modelView(await getOwnedModel({ db: { kysely: transaction } }, owner, id));
  });
}

/** Changes a model; what is given is checked together with what stays. Returns the default's id beside it. */
export function updateModel(
  deps: ModelDeps,
  owner: string,
  patch: ModelPatch,
  by?: ChangedBy,
): Promise<{ model: Model; defaultModelId: string | null }> {
  return inCatalogue(deps, owner, async (transaction) => {
    const stored = await getOwnedModel({ db: { kysely: transaction } }, owner, patch.id);
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
      .set({ ...merged, parameters })
      .where('id', '=', patch.id)
      .execute();
    const { id, ...given } = patch;
    const change = { id, name: merged.display_name, changed: changedFields(given) };
    await recordChange(transaction, owner, by, 'model.updated', change);
    if (patch.isDefault === true) await makeDefault(transaction, owner, patch.id);
    const defaultModelId = await settleDefault(transaction, owner);
    const row = await getOwnedModel({ db: { kysely: transaction } }, owner, patch.id);
    return { model: modelView(row), defaultModelId };
  });
}

/** Deletes a model and promotes another default when needed. Returns the default's id. */
export function deleteModel(
  deps: { db: Pick<Database, 'kysely'> },
  owner: string,
  id: string,
  by?: ChangedBy,
): Promise<string | null> {
  return inCatalogue(deps, owner, async (transaction) => {
    const { display_name: name } = await getOwnedModel({ db: { kysely: transaction } }, owner, id);
    await recordChange(transaction, owner, by, 'model.deleted', { id, name });
    await lockChatsOfModels(transaction, [id]);
    await transaction.deleteFrom('models').where('id', '=', id).execute();
    return settleDefault(transaction, owner);
  });
}

/** The one answer for a model that is missing or somebody else's. */
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

/** A model row as a batch writes one; who is the default is default-model.ts's. */
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
};

/** The models of several owners, each owner's oldest first. */
export async function readModels(db: Queryable, owners: readonly string[]): Promise<ModelRow[]> {
  if (owners.length === 0) return [];
  return db.selectFrom('models').selectAll().where('owner_id', 'in', owners).orderBy('seq').execute();
}

/** Adds models in the order given, none of them a default; to be followed by `settleDefaults`. */
export async function insertModels(transaction: CatalogueTransaction, records: readonly ModelRecord[]): Promise<void> {
  if (records.length === 0) return;
  await sql`
    insert into models (id, owner_id, provider_id, provider_model_id, display_name, context_window, max_output_tokens, tier, enabled,
      parameters)
    select id, owner, "providerId", "providerModelId", "displayName", "contextWindow", "maxOutputTokens", tier, enabled, parameters
    from ${modelRecords(records)} order by place`.execute(transaction);
}

/** Writes models that exist, their owners and providers as they are; to be followed by `settleDefaults`. */
export async function updateModels(transaction: CatalogueTransaction, records: readonly ModelRecord[]): Promise<void> {
  if (records.length === 0) return;
  await sql`
    update models m set provider_model_id = x."providerModelId", display_name = x."displayName",
      context_window = x."contextWindow", max_output_tokens = x."maxOutputTokens", tier = x.tier, enabled = x.enabled,
      parameters = x.parameters
    from ${modelRecords(records)} where m.id = x.id`.execute(transaction);
}

function modelRecords(records: readonly ModelRecord[]) {
  const rows = records.map((record, place) => ({ place, ...record }));
  return sql`json_to_recordset(${JSON.stringify(rows)}::json) as x (place int, id text, owner text, "providerId" text,
    "providerModelId" text, "displayName" text, "contextWindow" int, "maxOutputTokens" int, tier int, enabled boolean,
    parameters jsonb)`;
}
