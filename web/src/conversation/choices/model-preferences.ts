import type { Model, ModelTier, Provider } from '@homeport/contracts/catalogue/catalogue';
import { enabledModels } from './model-choice.ts';

/**
 * Which models a person marked and used last, in this browser; it is theirs alone and no harm is done when it is lost.
 */

const keys = { favourites: 'favourite-models:v1', recent: 'recent-models:v1' } as const;
const bounds = { favourites: 50, recent: 3 } as const;
type Shelf = keyof typeof keys;

export type Shelves = Record<Shelf, readonly string[]>;

export function readShelves(): Shelves {
  return { favourites: readIds('favourites'), recent: readIds('recent') };
}

/** Marks a model, or takes the mark away. */
export function toggleFavourite(id: string): void {
  const ids = readIds('favourites');
  write('favourites', ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]);
}

export function rememberUsed(id: string): void {
  write('recent', [id, ...readIds('recent').filter((each) => each !== id)]);
}

function readIds(shelf: Shelf): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keys[shelf]) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string').slice(0, bounds[shelf]) : [];
  } catch {
    return [];
  }
}

function write(shelf: Shelf, ids: readonly string[]): void {
  try {
    localStorage.setItem(keys[shelf], JSON.stringify(ids.slice(0, bounds[shelf])));
  } catch {
    // A browser that stores nothing forgets it.
  }
}

type ShelvedModel = { model: Model; provider: Provider };
export type ShelfGroup =
  | { kind: 'favourites' | 'recent'; entries: ShelvedModel[] }
  /** `isAlone`: the only tier, shown without a heading. */
  | { kind: 'tier'; tier: ModelTier; isAlone: boolean; entries: ShelvedModel[] };

/**
 * The models to choose from, each once: marked ones, those used last, then the tiers in their order. The same model at
 * the same address, a shared one beside one's own, is listed once, unless it is `chosenId`. `text` leaves those in
 * which all its words are.
 */
export function shelveModels(
  catalogue: { providers: readonly Provider[]; modelTiers: readonly ModelTier[] },
  shelves: Shelves,
  chosenId: string | undefined,
  text: string,
): ShelfGroup[] {
  const all = entriesOf(catalogue.providers, chosenId);
  const byId = new Map(all.map((entry) => [entry.model.id, entry]));
  const tiers = tiersOf(all, catalogue.modelTiers);
  const shelved = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []);
  const favourites = shelved(shelves.favourites);
  // With few models, all of them are visible anyway.
  const recent = all.length < shelvedFrom ? [] : shelved(shelves.recent).filter((entry) => !favourites.includes(entry));
  const taken = new Set([...favourites, ...recent]);
  const groups: ShelfGroup[] = [
    { kind: 'favourites', entries: favourites },
    { kind: 'recent', entries: recent },
    ...tiers.map(({ tier, entries }): ShelfGroup => {
      const rest = entries.filter((entry) => !taken.has(entry));
      return { kind: 'tier', tier, isAlone: tiers.length === 1 && taken.size === 0, entries: rest };
    }),
  ];
  const words = text.toLowerCase().split(/\s+/);
  const isHit = ({ model, provider }: ShelvedModel) => {
    const haystack = `${model.displayName} ${model.providerModelId} ${provider.name}`.toLowerCase();
    return words.every((word) => haystack.includes(word));
  };
  return groups
    .map((group) => ({ ...group, entries: group.entries.filter(isHit) }))
    .filter(({ entries }) => entries.length > 0);
}

const shelvedFrom = 6;

function entriesOf(providers: readonly Provider[], chosenId: string | undefined): ShelvedModel[] {
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

/** Tiers that have models, in their order. Shared models are under what their owner calls the tier. */
function tiersOf(all: readonly ShelvedModel[], own: readonly ModelTier[]) {
  const named = new Map<string, { tier: ModelTier; entries: ShelvedModel[] }>();
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
