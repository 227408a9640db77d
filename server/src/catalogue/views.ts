import type { Model, Provider } from '@homeport/contracts/catalogue';
import type { Selectable } from 'kysely';
import type { ModelsTable, ProvidersTable } from '../db/tables-catalogue.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { describeCredentials } from './credentials.ts';
import { factsOf } from './model-facts.ts';
import { shippedRegistry } from './registry/current-registry.ts';

export type ProviderRow = Selectable<ProvidersTable>;
export type ModelRow = Selectable<ModelsTable>;

/** A model in its wire form (contract.md section 4). */
export function modelView(row: ModelRow, baseUrl: string): Model {
  const { abilities, prices, sources } = row;
  const facts =
    abilities === null ? factsOf(shippedRegistry(), baseUrl, row.provider_model_id) : { abilities, prices, sources };
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
    createdAt: row.created_at.toISOString(),
  };
}

/** A provider in its wire form: custom headers for editors only, the API key for nobody. */
export function providerView(
  deps: { secrets: KeyRing },
  row: ProviderRow,
  models: readonly ModelRow[],
  canEdit: boolean,
): Provider {
  const { headers, isReadable, otherOrigin } = describeCredentials(deps, row);
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    baseUrl: row.base_url,
    hasApiKey: row.api_key !== null,
    ...(canEdit ? { headers } : {}),
    ...(isReadable ? {} : { credentialsError: 'credentials_unreadable' as const }),
    ...(otherOrigin === undefined ? {} : { credentialsOrigin: otherOrigin }),
    enabled: row.enabled,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    models: models.map((model) => modelView(model, row.base_url)),
  };
}
