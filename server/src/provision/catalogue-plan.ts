import { randomUUIDv7 } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ModelTier, SharedWith } from '@homeport/contracts/catalogue/catalogue';
import { defaultTiers } from '@homeport/contracts/catalogue/default-tiers';
import { limits } from '@homeport/contracts/limits';
import type { ManifestModel, ManifestProvider } from '@homeport/contracts/provision/manifest';
import { bindCredentials } from '../catalogue/credentials.ts';
import type { ModelRecord } from '../catalogue/models.ts';
import type { ProviderRecord } from '../catalogue/provider-records.ts';
import type { readNamedStandIns } from '../catalogue/stand-ins.ts';
import type { ModelRow, ProviderRow } from '../catalogue/views.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { manifestError } from './manifest/manifest.ts';
import type { CatalogueEntry } from './manifest/manifest-reader.ts';
import { type GivenStandIns, resolveStandIns } from './manifest/manifest-stand-ins.ts';
import { planApiKey, planHeaders } from './provider-secrets.ts';
import { planSharing } from './provider-sharing.ts';
import { differences, type Report } from './report.ts';

/** The planned changes of one catalogue of the manifest: rows to write, none of them written yet. */
export type CataloguePlan = {
  owner: string;
  path: string;
  newProviders: ProviderRecord[];
  changedProviders: ProviderRecord[];
  newModels: ModelRecord[];
  changedModels: ModelRecord[];
  /** All definitions, if they change; those that models need, if there are none yet. */
  tiers: readonly ModelTier[] | undefined;
  /** Values that stay, if some may have to go. */
  keptTiers: number[] | undefined;
  newDefault: string | undefined;
  /** Stand-ins that change; their ids by model. */
  standIns: { modelId: string; ids: string[] }[];
  /** The current default has to be released before the rest is written. */
  releases: boolean;
};

/** The stored state of one catalogue. */
export type StoredCatalogue = {
  tiers: ModelTier[] | undefined;
  providers: ProviderRow[];
  models: ModelRow[];
  standIns: Awaited<ReturnType<typeof readNamedStandIns>>;
  /** By provider. */
  sharing: ReadonlyMap<string, SharedWith>;
  /** The ids of people whom the manifest names, by e-mail address. */
  people: ReadonlyMap<string, string>;
};

/** `label` names the catalogue's owner for people; `mayShare`: they are an administrator of the community edition. */
export type OwnedEntry = CatalogueEntry & { owner: string; label: string; mayShare: boolean };

/**
 * Compares one catalogue of the manifest with the stored one. Reads and writes nothing; throws `invalid_request` with a
 * path.
 */
export function planCatalogue(
  deps: { secrets: KeyRing },
  entry: OwnedEntry,
  stored: StoredCatalogue,
  report: Report,
): CataloguePlan {
  const plan: CataloguePlan = {
    owner: entry.owner,
    path: entry.path,
    newProviders: [],
    changedProviders: [],
    newModels: [],
    changedModels: [],
    tiers: undefined,
    keptTiers: undefined,
    newDefault: undefined,
    standIns: [],
    releases: false,
  };
  const providers = entry.providers ?? [];
  const standIns: GivenStandIns[] = [];
  const tiers = planTiers(plan, entry, stored, report);
  const models = Map.groupBy(stored.models, (row) => row.provider_id);
  const nextRow = inOrder(stored.providers, ({ name }) => name);
  for (const [index, provider] of providers.entries()) {
    const path = `${entry.path}providers.${index}`;
    const row = nextRow(provider.name);
    const id = planProvider(deps, plan, { provider, path, row, stored }, entry, report);
    const isEnabled = provider.enabled ?? row?.enabled ?? true;
    const rows = models.get(id) ?? [];
    const nextModel = inOrder(rows, (model) => model.provider_model_id);
    const place = { providerId: id, name: provider.name, isEnabled, nextModel, tiers, stored, standIns };
    for (const [at, model] of provider.models.entries()) {
      planModel(plan, { model, path: `${path}.models.${at}` }, place, report);
    }
    assertRoom(
      rows.length + plan.newModels.filter((model) => model.providerId === id).length,
      limits.modelsPerProvider,
      `${path}.models`,
    );
  }
  assertRoom(stored.providers.length + plan.newProviders.length, limits.providersPerOwner, `${entry.path}providers`);
  plan.standIns = standIns.map((given) => resolveStandIns(plan, stored, given));
  planDefault(plan, stored);
  return plan;
}

/**
 * Several records may have one key: the first in a manifest is the oldest stored one, the second the next, and so on.
 */
function inOrder<T>(rows: readonly T[], keyOf: (row: T) => string): (key: string) => T | undefined {
  const left = Map.groupBy(rows, keyOf);
  return (key) => left.get(key)?.shift();
}

function planTiers(
  plan: CataloguePlan,
  entry: OwnedEntry,
  stored: StoredCatalogue,
  report: Report,
): readonly ModelTier[] {
  const present = stored.tiers ?? defaultTiers;
  const given = entry.modelTiers;
  if (given === undefined) {
    // Models refer to stored tiers: a new catalogue's defaults are stored with the first model.
    if (stored.tiers === undefined && (entry.providers ?? []).some(({ models }) => models.length > 0)) {
      plan.tiers = present;
    }
    return present;
  }
  const isSame = JSON.stringify(given.map(tierText)) === JSON.stringify(present.map(tierText));
  if (isSame && stored.tiers !== undefined) return present;
  plan.tiers = given;
  plan.keptTiers = given.map((tier) => tier.value);
  if (!isSame) {
    const [before, after] = [present, given].map((tiers) => tiers.map(tierText).join(', '));
    report.change(`${entry.path}modelTiers`, 'update', `model tiers of ${entry.label}: ${before} → ${after}`);
  }
  return given;
}

function tierText({ value, label }: ModelTier): string {
  return `${label} (${value})`;
}

type GivenProvider = {
  provider: ManifestProvider;
  path: string;
  row: ProviderRow | undefined;
  stored: Pick<StoredCatalogue, 'sharing' | 'people'>;
};

function firstByteOf({ firstByteSeconds }: ManifestProvider, row: ProviderRow | undefined): number | null {
  return firstByteSeconds === undefined ? (row?.first_byte_seconds ?? null) : firstByteSeconds;
}

function planProvider(
  deps: { secrets: KeyRing },
  plan: CataloguePlan,
  { provider, path, row, stored }: GivenProvider,
  entry: OwnedEntry,
  report: Report,
): string {
  const id = row?.id ?? randomUUIDv7();
  const before = row === undefined ? undefined : bindCredentials(deps, row);
  const place = { id, owner_id: entry.owner, base_url: provider.baseUrl };
  const key = planApiKey(deps, place, before?.api_key ?? null, provider.apiKey);
  const headers = planHeaders(deps, place, before?.headers ?? null, provider.headers);
  for (const { name, message } of [...key.warnings, ...headers.warnings]) report.warn(`${path}.${name}`, message);
  const sharedBefore = stored.sharing.get(id) ?? 'none';
  const sharedWith = planSharing(provider, path, stored.people, entry.mayShare);
  const record: ProviderRecord = {
    id,
    owner: entry.owner,
    name: provider.name,
    kind: provider.kind ?? row?.kind ?? 'openai',
    baseUrl: provider.baseUrl,
    apiKey: key.envelope,
    headers: headers.envelope,
    enabled: provider.enabled ?? row?.enabled ?? true,
    firstByteSeconds: firstByteOf(provider, row),
    region: provider.region === undefined ? (row?.region ?? null) : provider.region,
    onlyRegions: provider.onlyRegions ?? row?.only_regions ?? [],
    sharedWith: sharedWith ?? sharedBefore,
  };
  if (row === undefined) {
    plan.newProviders.push(record);
    report.created('providers', path, `provider "${provider.name}" of ${entry.label}, ${provider.baseUrl}`);
    return id;
  }
  const changes = [
    ...differences(
      {
        kind: row.kind,
        baseUrl: row.base_url,
        enabled: row.enabled,
        firstByteSeconds: row.first_byte_seconds,
        region: row.region,
        onlyRegions: row.only_regions,
        sharedWith: sharedBefore,
      },
      {
        kind: provider.kind,
        baseUrl: provider.baseUrl,
        enabled: provider.enabled,
        firstByteSeconds: provider.firstByteSeconds,
        region: provider.region,
        onlyRegions: provider.onlyRegions,
        sharedWith,
      },
    ),
    ...key.changes,
    ...headers.changes,
  ];
  if (changes.length > 0) plan.changedProviders.push(record);
  report.compared('providers', path, `provider "${provider.name}" of ${entry.label}`, changes);
  return id;
}

type ModelPlace = {
  providerId: string;
  name: string;
  isEnabled: boolean;
  nextModel: (providerModelId: string) => ModelRow | undefined;
  tiers: readonly ModelTier[];
  stored: StoredCatalogue;
  /** Receives the stand-ins that change. */
  standIns: GivenStandIns[];
};

function planModel(
  plan: CataloguePlan,
  { model, path }: { model: ManifestModel; path: string },
  { providerId, name, isEnabled, nextModel, tiers, stored: catalogue, standIns: changing }: ModelPlace,
  report: Report,
): void {
  if (!tiers.some((tier) => tier.value === model.tier)) {
    const message = `This tier does not exist; one of ${tiers.map((tier) => tier.value).join(', ')}`;
    throw manifestError([{ path: `${path}.tier`, message }]);
  }
  const row = nextModel(model.providerModelId);
  const { isDefault, enabled = row?.enabled ?? true, parameters = row?.parameters ?? {}, ...given } = model;
  const { abilities, prices, standIns, ...rest } = given;
  const facts = factsOf(row, { abilities, prices });
  const record: ModelRecord = {
    id: row?.id ?? randomUUIDv7(),
    owner: plan.owner,
    providerId,
    ...rest,
    enabled,
    parameters,
    ...facts,
  };
  const label = `model "${model.providerModelId}" of "${name}"`;
  if (isDefault === true && !(enabled && isEnabled)) {
    throw manifestError([
      {
        path: `${path}.isDefault`,
        message: 'This model or its provider is disabled: enable it in the manifest as well',
      },
    ]);
  }
  if (isDefault === true && row?.is_default !== true) plan.newDefault = record.id;
  const standInsBefore = catalogue.standIns.get(record.id) ?? [];
  if (standIns !== undefined && !isDeepStrictEqual(standIns, standInsBefore)) {
    changing.push({ modelId: record.id, path: `${path}.standIns`, names: standIns });
  }
  if (row === undefined) {
    plan.newModels.push(record);
    report.created('models', path, `${label}${isDefault === true ? ', the default' : ''}`);
    return;
  }
  const stored = {
    displayName: row.display_name,
    contextWindow: row.context_window,
    maxOutputTokens: row.max_output_tokens,
    tier: row.tier,
    enabled: row.enabled,
    parameters: row.parameters,
    abilities: row.abilities,
    prices: row.prices,
    standIns: standInsBefore,
  };
  const { providerModelId, ...wanted } = { ...rest, enabled, parameters, abilities, prices, standIns };
  const changes = differences(stored, wanted);
  if (changes.length > 0) plan.changedModels.push(record);
  const becomes = plan.newDefault === record.id ? ['becomes the default'] : [];
  report.compared('models', path, label, [...changes, ...becomes]);
}

/** Facts from the manifest get the source `person`; all others keep their source, such as the registry. */
function factsOf(
  row: ModelRow | undefined,
  { abilities, prices }: Pick<ManifestModel, 'abilities' | 'prices'>,
): Pick<ModelRecord, 'abilities' | 'prices' | 'sources'> {
  return {
    abilities: abilities ?? row?.abilities ?? null,
    prices: prices === undefined ? (row?.prices ?? null) : prices,
    sources: {
      ...row?.sources,
      ...(abilities === undefined ? {} : { abilities: 'person' }),
      ...(prices === undefined ? {} : { prices: 'person' }),
    },
  };
}

/** The default is released before it is disabled, and before another one takes its place. */
function planDefault(plan: CataloguePlan, stored: StoredCatalogue): void {
  const present = stored.models.find((row) => row.is_default);
  if (present === undefined) return;
  const isDisabled = plan.changedModels.some((model) => model.id === present.id && !model.enabled);
  plan.releases = isDisabled || plan.newDefault !== undefined;
}

function assertRoom(count: number, most: number, path: string): void {
  if (count > most) throw manifestError([{ path, message: `Together with existing ones, more than ${most}` }]);
}
