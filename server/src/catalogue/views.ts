import type { Model, ModelTier, Provider, SharedWith } from '@homeport/contracts/catalogue/catalogue';
import type { Selectable } from 'kysely';
import type { ModelsTable, ProvidersTable } from '../db/tables/catalogue.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { outageOf } from './circuits.ts';
import { describeCredentials } from './credentials.ts';
import { estimatedPrices, factsOf } from './model-facts.ts';
import { shippedRegistry } from './registry/current-registry.ts';

export type ProviderRow = Selectable<ProvidersTable>;
export type ModelRow = Selectable<ModelsTable>;

/** A model in its wire form (contract.md section 4). */
export function modelView(row: ModelRow, baseUrl: string): Model {
  const { abilities, prices, sources } = row;
  const facts =
    abilities === null ? factsOf(shippedRegistry(), baseUrl, row.provider_model_id) : { abilities, prices, sources };
  const place = { baseUrl, providerModelId: row.provider_model_id };
  return {
    id: row.id,
    providerId: row.provider_id,
    providerModelId: row.provider_model_id,
    displayName: row.display_name,
    contextWindow: row.context_window,
    maxOutputTokens: row.max_output_tokens,
    tier: row.tier,
    enabled: row.enabled,
    isDefault: row.is_default,
    parameters: row.parameters,
    ...facts,
    estimatedPrices: estimatedPrices(shippedRegistry, place, facts),
    lessons: [],
    standIns: [],
    createdAt: row.created_at.toISOString(),
  };
}

/** The fields that everyone with the provider sees. */
function sharedFields(row: ProviderRow) {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    hasApiKey: row.api_key !== null,
    enabled: row.enabled,
    firstByteSeconds: row.first_byte_seconds,
    region: row.region,
    onlyRegions: row.only_regions,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Wire form of an owner's provider: custom headers for editors only, the API key never. */
export function providerView(
  deps: { secrets: KeyRing },
  row: ProviderRow,
  models: readonly ModelRow[],
  { canEdit, sharedWith }: { canEdit: boolean; sharedWith: SharedWith },
): Provider {
  const outage = outageOf(row);
  const { headers, isReadable, otherOrigin } = describeCredentials(deps, row);
  return {
    ...sharedFields(row),
    baseUrl: row.base_url,
    ...(canEdit ? { headers } : {}),
    ...(isReadable ? {} : { credentialsError: 'credentials_unreadable' as const }),
    ...(otherOrigin === undefined ? {} : { credentialsOrigin: otherOrigin }),
    canEdit,
    sharedWith,
    ...(canEdit && outage !== undefined ? { outage } : {}),
    models: models.map((model) => modelView(model, row.base_url)),
  };
}

/** Wire form of a provider for users with whom it is shared: no credentials, and no query, which can be one. */
export function sharedProviderView(
  row: ProviderRow,
  models: readonly ModelRow[],
  { sharedWith, modelTiers, defaultId }: { sharedWith: SharedWith; modelTiers: ModelTier[]; defaultId: string | null },
): Provider {
  const address = new URL(row.base_url);
  return {
    ...sharedFields(row),
    baseUrl: address.search === '' ? row.base_url : `${address.origin}${address.pathname}`,
    canEdit: false,
    sharedWith,
    modelTiers,
    models: models.map((model) => ({ ...modelView(model, row.base_url), isDefault: model.id === defaultId })),
  };
}
