import type { Abilities, Lesson, Prices } from '@homeport/contracts/catalogue/model-facts';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { ApiError } from '@homeport/contracts/errors';
import { columnList } from '../db/column-list.ts';
import type { Database } from '../db/pool.ts';
import type { StoredProvider } from './credentials.ts';
import { addressSql } from './lessons.ts';
import { estimatedPrices, factsOf, type StoredFacts } from './model-facts.ts';
import { modelNotFound } from './models.ts';
import { shippedRegistry } from './registry/current-registry.ts';
import { sharedProviderIds } from './sharing.ts';

/** A model with the facts that a turn needs, and its provider with the envelopes still sealed. */
export type ResolvedModel = {
  model: {
    id: string;
    providerModelId: string;
    displayName: string;
    contextWindow: number;
    maxOutputTokens: number;
    parameters: Parameters;
    /** Null: not known. */
    prices: Prices | null;
    /** The prices are those of the model's maker, though another server answers. */
    pricesEstimated: boolean;
    /** Abilities that a person, the provider or the registry states; empty: not known. */
    abilities: Partial<Abilities>;
    lessons: Pick<Lesson, 'about' | 'value'>[];
    hasStandIns: boolean;
  };
  /** Regions that the providers of its stand-ins may have; empty: any. */
  onlyRegions: readonly string[];
  providerName: string;
  provider: StoredProvider & { kind: ProviderKind; first_byte_seconds: number | null };
};

type ChoiceRow = {
  model_id: string;
  provider_model_id: string;
  display_name: string;
  context_window: number;
  max_output_tokens: number;
  parameters: Parameters;
  prices: Prices | null;
  abilities: Abilities | null;
  sources: StoredFacts['sources'] | null;
  lessons: Pick<Lesson, 'about' | 'value'>[];
  has_stand_ins: boolean;
  only_regions: string[];
  is_usable: boolean;
  is_theirs: boolean;
  provider_id: string;
  provider_name: string;
  owner_id: string;
  kind: ProviderKind;
  base_url: string;
  api_key: string | null;
  headers: string | null;
  first_byte_seconds: number | null;
};
type ChoiceDeps = { db: Pick<Database, 'pool'> };

type UsableRow = {
  id: string;
  modelId: string;
  displayName: string;
  providerName: string;
  createdAt: Date;
  contextWindow: number;
  maxOutputTokens: number;
};
const usableMax = 1000;

const columns = columnList<ChoiceRow>({
  model_id: 'm.id',
  provider_model_id: 'm.provider_model_id',
  display_name: 'm.display_name',
  context_window: 'm.context_window',
  max_output_tokens: 'm.max_output_tokens',
  parameters: 'm.parameters',
  prices: 'm.prices',
  abilities: 'm.abilities',
  sources: 'm.sources',
  lessons: `(select coalesce(json_agg(json_build_object('about', l.about, 'value', l.value)), '[]') from model_lessons l
    where l.model_id = m.id and l.address = ${addressSql})`,
  has_stand_ins: 'exists (select from model_stand_ins s where s.model_id = m.id)',
  only_regions: 'p.only_regions',
  is_usable: 'm.enabled and p.enabled',
  is_theirs: `m.owner_id = $1 or p.id in (${sharedProviderIds('$1::text')})`,
  provider_id: 'p.id',
  provider_name: 'p.name',
  owner_id: 'p.owner_id',
  kind: 'p.kind',
  base_url: 'p.base_url',
  api_key: 'p.api_key',
  headers: 'p.headers',
  first_byte_seconds: 'p.first_byte_seconds',
});
const select = `select ${columns} from models m join providers p on p.id = m.provider_id`;

// Runs in each turn, so it is named and prepared once per connection.
const byId = { name: 'model-by-id', text: `${select} where m.id = $2` };
const byDefault = { name: 'model-by-default', text: `${select} where m.owner_id = $1 and m.is_default` };
const byLowestTier = {
  name: 'model-by-lowest-tier',
  text: `${select} join model_tiers t on t.owner_id = m.owner_id and t.value = m.tier
    where m.owner_id = $1 and m.enabled and p.enabled order by t.position, m.seq limit 1`,
};
const shared = `where m.enabled and p.id in (${sharedProviderIds('$1::text')})`;
const byName = {
  name: 'model-by-name',
  text: `${select} where $2 in (m.id, m.display_name, m.provider_model_id, p.name || '/' || m.provider_model_id)
    and m.enabled and p.enabled
    and (m.owner_id = $1 or p.id in (${sharedProviderIds('$1::text')})) order by m.owner_id = $1 desc, m.seq limit 1`,
};
const bySharedDefault = {
  name: 'model-by-shared-default',
  text: `${select} ${shared} order by m.is_default desc, m.seq limit 1`,
};
const byLowestSharedTier = {
  name: 'model-by-lowest-shared-tier',
  text: `${select} join model_tiers t on t.owner_id = m.owner_id and t.value = m.tier ${shared}
    order by t.position, m.seq limit 1`,
};

/**
 * The model of a turn: the given one, the owner's default, or the default shared with them. Throws `not_found` for a
 * foreign id, and `model_unavailable`, with what to do, if it is disabled, no longer shared or there is no default.
 * `wasTheirs`: the id was checked when it was chosen, so a foreign one was shared until then.
 */
export async function resolveModel(
  deps: ChoiceDeps,
  owner: string,
  decision: { modelId?: string | null; wasTheirs?: boolean },
): Promise<ResolvedModel> {
  const { modelId, wasTheirs = false } = decision;
  if (typeof modelId === 'string') {
    const row = await findRow(deps, { ...byId, values: [owner, modelId] });
    if (row === undefined || !(row.is_theirs || wasTheirs)) throw modelNotFound();
    if (row.is_theirs && row.is_usable) return resolved(row);
    if (row.owner_id !== owner) {
      throw new ApiError('model_unavailable', 'This model is no longer shared with you. Choose another model.');
    }
    throw new ApiError(
      'model_unavailable',
      'This model or its provider is disabled. Choose another model, or enable it in Settings.',
    );
  }
  const own = await findRow(deps, { ...byDefault, values: [owner] });
  const row = own?.is_usable === true ? own : await findRow(deps, { ...bySharedDefault, values: [owner] });
  if (row !== undefined) return resolved(row);
  throw new ApiError(
    'model_unavailable',
    'No model is available. Add a provider and a model in Settings, or ask your administrator to share one.',
  );
}

/**
 * The first enabled model of the lowest tier in display order, for small work such as titles; own ones before shared
 * ones.
 */
export async function lowestTierEnabledModel(deps: ChoiceDeps, owner: string): Promise<ResolvedModel | undefined> {
  const own = await findRow(deps, { ...byLowestTier, values: [owner] });
  const row = own ?? (await findRow(deps, { ...byLowestSharedTier, values: [owner] }));
  return row === undefined ? undefined : resolved(row);
}

/** A model that the owner may use, by its id or one of its names; own ones before shared ones. */
export async function findModelByName(
  deps: ChoiceDeps,
  owner: string,
  name: string,
): Promise<ResolvedModel | undefined> {
  const row = await findRow(deps, { ...byName, values: [owner, name] });
  return row === undefined ? undefined : resolved(row);
}

const listUsable = {
  name: 'models-usable',
  text: `select m.id, m.provider_model_id as "modelId", m.display_name as "displayName", p.name as "providerName",
      m.created_at as "createdAt", m.context_window as "contextWindow", m.max_output_tokens as "maxOutputTokens"
    from models m join providers p on p.id = m.provider_id where m.enabled and p.enabled
      and (m.owner_id = $1 or p.id in (${sharedProviderIds('$1::text')})) order by m.owner_id = $1 desc, m.seq limit $2`,
};

/**
 * The models that the owner may use, by the name that finds each: the provider's where it is unique, else
 * `<provider>/<id>`, or our id where that is taken as well.
 */
export async function listUsableModels(
  deps: ChoiceDeps,
  owner: string,
): Promise<(Omit<UsableRow, 'modelId'> & { name: string })[]> {
  const { rows } = await deps.db.pool.query<UsableRow>({ ...listUsable, values: [owner, usableMax] });
  const counts = new Map<string, number>();
  for (const { modelId } of rows) counts.set(modelId, (counts.get(modelId) ?? 0) + 1);
  const taken = new Set<string>();
  return rows.map(({ modelId, ...row }) => {
    const name = counts.get(modelId) === 1 ? modelId : `${row.providerName}/${modelId}`;
    const unique = taken.has(name) ? row.id : name;
    taken.add(unique);
    return { name: unique, ...row };
  });
}

async function findRow(
  deps: ChoiceDeps,
  query: { name: string; text: string; values: string[] },
): Promise<ChoiceRow | undefined> {
  const { rows } = await deps.db.pool.query<ChoiceRow>(query);
  return rows[0];
}

function resolved(row: ChoiceRow): ResolvedModel {
  const { abilities: stored, prices, sources } = row;
  const facts =
    stored === null
      ? factsOf(shippedRegistry(), row.base_url, row.provider_model_id)
      : { abilities: stored, prices, sources: sources ?? {} };
  const place = { baseUrl: row.base_url, providerModelId: row.provider_model_id };
  const estimate = estimatedPrices(shippedRegistry, place, facts);
  return {
    model: {
      id: row.model_id,
      providerModelId: row.provider_model_id,
      displayName: row.display_name,
      contextWindow: row.context_window,
      maxOutputTokens: row.max_output_tokens,
      parameters: row.parameters,
      prices: facts.prices ?? estimate,
      pricesEstimated: estimate !== null,
      lessons: row.lessons,
      hasStandIns: row.has_stand_ins,
      abilities: facts.sources.abilities === undefined ? {} : facts.abilities,
    },
    onlyRegions: row.only_regions,
    providerName: row.provider_name,
    provider: {
      id: row.provider_id,
      owner_id: row.owner_id,
      kind: row.kind,
      base_url: row.base_url,
      api_key: row.api_key,
      headers: row.headers,
      first_byte_seconds: row.first_byte_seconds,
    },
  };
}
