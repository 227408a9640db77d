import type {
  Abilities,
  FactName,
  FactSource,
  ListedModel,
  ModelFacts,
  Prices,
} from '@homeport/contracts/catalogue/model-facts';
import type { ModelRegistry } from './registry/registry.ts';

/** Facts about a model from several sources, by precedence: a person, the provider's list, the registry. */

/** Assumed abilities of an unknown model: those of current models. A server without one reports that in its error. */
const unknownAbilities: Abilities = {
  images: true,
  documents: false,
  tools: true,
  temperature: true,
  reasoning: false,
};

export type GivenFacts = {
  abilities?: Abilities;
  prices?: Prices | null;
  sources?: { [Name in FactName]?: FactSource } | undefined;
};

export type StoredFacts = {
  abilities: Abilities;
  prices: Prices | null;
  sources: Partial<Record<FactName, FactSource>>;
};

/** The facts to store with a model: the given ones with their source, and the registry's for the rest. */
export function factsToStore(
  registry: ModelRegistry,
  { baseUrl, providerModelId }: { baseUrl: string; providerModelId: string },
  given: GivenFacts,
  givenNames: readonly FactName[],
): StoredFacts {
  const known = registry.find(baseUrl, providerModelId);
  const sources: StoredFacts['sources'] = {};
  for (const name of givenNames) sources[name] = given.sources?.[name] ?? 'person';
  if (given.abilities === undefined && known?.abilities !== undefined) sources.abilities = 'registry';
  if (given.prices === undefined && known?.prices !== undefined) sources.prices = 'registry';
  return {
    abilities: given.abilities ?? { ...unknownAbilities, ...known?.abilities },
    prices: given.prices === undefined ? (known?.prices ?? null) : given.prices,
    sources,
  };
}

/**
 * List prices of a model's maker, for a model whose prices neither a person nor its provider states; null if the maker
 * isn't clear.
 */
export function estimatedPrices(
  registry: () => ModelRegistry,
  { baseUrl, providerModelId }: { baseUrl: string; providerModelId: string },
  { prices, sources }: Pick<StoredFacts, 'prices' | 'sources'>,
): Prices | null {
  if (prices !== null || sources.prices !== undefined) return null;
  return registry().estimatePrices(baseUrl, providerModelId) ?? null;
}

/** For a model stored before facts were. */
export function factsOf(registry: ModelRegistry, baseUrl: string, providerModelId: string): StoredFacts {
  return factsToStore(registry, { baseUrl, providerModelId }, {}, []);
}

/** Joins the facts of a listed model from the provider's list and the registry. */
export function joinedFacts(id: string, chat: boolean, listed: ModelFacts, known: ModelFacts | undefined): ListedModel {
  const sources: ListedModel['sources'] = {};
  const pick = <Name extends 'displayName' | 'contextWindow' | 'maxOutputTokens' | 'prices'>(name: Name) => {
    const value = listed[name] ?? known?.[name];
    if (value !== undefined) sources[name] = listed[name] === undefined ? 'registry' : 'provider';
    return value;
  };
  const [displayName, contextWindow, prices] = [pick('displayName'), pick('contextWindow'), pick('prices')];
  const longest = pick('maxOutputTokens');
  if (listed.abilities !== undefined || known?.abilities !== undefined) {
    sources.abilities = listed.abilities === undefined ? 'registry' : 'provider';
  }
  const efforts = reasoningOf(listed.abilities?.reasoning, known?.abilities?.reasoning);
  return {
    id,
    chat,
    ...(displayName === undefined ? {} : { displayName }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(listed.possibleWindow === undefined ? {} : { possibleWindow: listed.possibleWindow }),
    ...(listed.isLoaded === undefined ? {} : { isLoaded: listed.isLoaded }),
    ...(longest === undefined ? {} : { maxOutputTokens: Math.min(longest, contextWindow ?? longest) }),
    ...(prices === undefined ? {} : { prices }),
    ...(listed.endOfLife === undefined ? {} : { endOfLife: listed.endOfLife }),
    abilities: { ...unknownAbilities, ...known?.abilities, ...listed.abilities, reasoning: efforts },
    sources,
  };
}

/** A list says that a model reasons, the registry with which efforts. */
function reasoningOf(
  listed: Abilities['reasoning'] | undefined,
  known: Abilities['reasoning'] | undefined,
): Abilities['reasoning'] {
  if (listed === undefined || (Array.isArray(listed) && listed.length === 0)) return known || listed || false;
  return listed;
}
