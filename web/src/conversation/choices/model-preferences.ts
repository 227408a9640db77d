import type { Model, ModelTier, Provider } from '@homeport/contracts/catalogue/catalogue';
import { enabledModels } from './model-choice.ts';

/** A person's favorite and recently used models, stored in this browser only. */

const keys = { favorites: 'favourite-models:v1', recent: 'recent-models:v1' } as const;
/** Fewest models for which recently used ones are listed separately. */
const fewestForRecent = 6;
const bounds = { favorites: 50, recent: 3 } as const;
type ListName = keyof typeof keys;

/** Ids of models, newest first for `recent`. */
export type ModelPreferences = Record<ListName, readonly string[]>;

export function readModelPreferences(): ModelPreferences {
  return { favorites: readIds('favorites'), recent: readIds('recent') };
}

/** Adds a model to the favorites, or removes it. */
export function toggleFavorite(id: string): void {
  const ids = readIds('favorites');
  write('favorites', ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]);
}

/** Puts a model first in the recently used ones. */
export function rememberUsed(id: string): void {
  write('recent', [id, ...readIds('recent').filter((each) => each !== id)]);
}

function readIds(name: ListName): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keys[name]) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string').slice(0, bounds[name]) : [];
  } catch {
    return [];
  }
}

function write(name: ListName, ids: readonly string[]): void {
  try {
    localStorage.setItem(keys[name], JSON.stringify(ids.slice(0, bounds[name])));
  } catch {
    // Storage is unavailable or full; the preferences are then lost.
  }
}

type ModelEntry = { model: Model; provider: Provider };
export type ModelGroup =
  | { kind: 'favorites' | 'recent'; entries: ModelEntry[] }
  /** `isAlone`: the only tier, shown without a heading. */
  | { kind: 'tier'; tier: ModelTier; isAlone: boolean; entries: ModelEntry[] };

/**
 * Groups the available models, each listed once: favorites, recently used ones, then the tiers in their order. A shared
 * model with the same address as an own one is left out, unless it is `chosenId`. Keeps models that contain all words of
 * `text`.
 */
export function groupModels(
  catalogue: { providers: readonly Provider[]; modelTiers: readonly ModelTier[] },
  preferences: ModelPreferences,
  chosenId: string | undefined,
  text: string,
): ModelGroup[] {
  const all = entriesOf(catalogue.providers, chosenId);
  const byId = new Map(all.map((entry) => [entry.model.id, entry]));
  const tiers = tiersOf(all, catalogue.modelTiers);
  const entriesOfIds = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []);
  const favorites = entriesOfIds(preferences.favorites);
  // With few models, all of them are visible anyway.
  const recent =
    all.length < fewestForRecent ? [] : entriesOfIds(preferences.recent).filter((entry) => !favorites.includes(entry));
  const taken = new Set([...favorites, ...recent]);
  const groups: ModelGroup[] = [
    { kind: 'favorites', entries: favorites },
    { kind: 'recent', entries: recent },
    ...tiers.map(({ tier, entries }): ModelGroup => {
      const rest = entries.filter((entry) => !taken.has(entry));
      return { kind: 'tier', tier, isAlone: tiers.length === 1 && taken.size === 0, entries: rest };
    }),
  ];
  const words = text.toLowerCase().split(/\s+/);
  const isHit = ({ model, provider }: ModelEntry) => {
    const haystack = `${model.displayName} ${model.providerModelId} ${provider.name}`.toLowerCase();
    return words.every((word) => haystack.includes(word));
  };
  return groups
    .map((group) => ({ ...group, entries: group.entries.filter(isHit) }))
    .filter(({ entries }) => entries.length > 0);
}

function entriesOf(providers: readonly Provider[], chosenId: string | undefined): ModelEntry[] {
  const seen = new Set<string>();
  return providers.flatMap((provider) =>
    enabledModels([provider]).flatMap((model) => {
      const same = JSON.stringify([provider.kind, provider.baseUrl, model.providerModelId, model.displayName]);
      const isTwin = provider.modelTiers !== undefined && seen.has(same);
      seen.add(same);
      return isTwin && model.id !== chosenId && !model.isDefault ? [] : [{ model, provider }];
    }),
  );
}

/** Tiers with models, in their order. Shared models are under their owner's tier, matched by its label. */
function tiersOf(all: readonly ModelEntry[], own: readonly ModelTier[]) {
  const named = new Map<string, { tier: ModelTier; entries: ModelEntry[] }>();
  for (const tier of own) named.set(tier.label.toLowerCase(), { tier, entries: [] });
  for (const entry of all) {
    const value = entry.model.tier;
    const tiers = entry.provider.modelTiers ?? own;
    const tier = tiers.find((each) => each.value === value) ?? { value, label: String(value) };
    const group = named.get(tier.label.toLowerCase()) ?? { tier, entries: [] };
    named.set(tier.label.toLowerCase(), group);
    group.entries.push(entry);
  }
  return [...named.values()].filter(({ entries }) => entries.length > 0);
}
