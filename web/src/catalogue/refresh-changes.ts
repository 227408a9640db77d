import type { Model } from '@homeport/contracts/catalogue/catalogue';
import type { FactName, FactSource, ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { limits } from '@homeport/contracts/limits';

/** Differences between a stored model and a fresh list. Values that a person entered are never changed. */
export type ModelChange = {
  model: Model;
  fields: { name: FactName; source: FactSource; before: unknown; after: unknown }[];
  /** For PATCH /api/models. */
  body: { id: string; sources: Model['sources'] } & Partial<Pick<Model, FactName>>;
};

const names = ['displayName', 'contextWindow', 'maxOutputTokens', 'abilities', 'prices'] as const;

export function refreshChanges(models: readonly Model[], listed: readonly ListedModel[]): ModelChange[] {
  const byId = new Map(listed.map((model) => [model.id, model]));
  return models.flatMap((model) => {
    const fresh = byId.get(model.providerModelId);
    const change = fresh && changeOf(model, fresh);
    return change === undefined || change.fields.length === 0 ? [] : [change];
  });
}

/** The models that the list no longer has. */
export function removedModels(models: readonly Model[], listed: readonly ListedModel[]): Model[] {
  const ids = new Set(listed.map(({ id }) => id));
  return models.filter(({ providerModelId }) => !ids.has(providerModelId));
}

function changeOf(model: Model, fresh: ListedModel): ModelChange {
  const change: ModelChange = { model, fields: [], body: { id: model.id, sources: {} } };
  for (const name of names) {
    const source = fresh.sources[name];
    const stored = model.sources[name];
    // No source means that a person entered the value.
    if (source === undefined || stored === undefined || stored === 'person') continue;
    const after = freshValue(name, model, fresh);
    if (after === undefined || JSON.stringify(sorted(after)) === JSON.stringify(sorted(model[name]))) continue;
    change.fields.push({ name, source, before: model[name], after });
    Object.assign(change.body, { [name]: after });
    change.body.sources[name] = source;
  }
  const { contextWindow = model.contextWindow, maxOutputTokens = model.maxOutputTokens } = change.body;
  // The output limit can't exceed a smaller window, regardless of its source.
  if (maxOutputTokens > contextWindow) {
    change.body.maxOutputTokens = contextWindow;
    change.body.sources.maxOutputTokens ??= model.sources.maxOutputTokens;
  }
  return change;
}

function freshValue(name: (typeof names)[number], model: Model, fresh: ListedModel): unknown {
  if (name === 'displayName') return fresh.displayName?.slice(0, limits.displayNameMax).trim() || undefined;
  if (name === 'maxOutputTokens' && fresh.maxOutputTokens !== undefined) {
    return Math.min(fresh.maxOutputTokens, fresh.contextWindow ?? model.contextWindow);
  }
  return fresh[name];
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
