import {
  type ManifestHead,
  type ManifestProvider,
  type ManifestStandIn,
  type ManifestUser,
  secretPlaceholder,
} from '@homeport/contracts/provision/manifest';
import { sql } from 'kysely';
import { installationOwner } from '../../catalogue/catalogue-owner.ts';
import { findHeaders } from '../../catalogue/credentials.ts';
import { readModels } from '../../catalogue/models.ts';
import { readProviders } from '../../catalogue/provider-records.ts';
import { readNamedStandIns } from '../../catalogue/stand-ins.ts';
import { readTiers } from '../../catalogue/tiers.ts';
import type { ModelRow, ProviderRow } from '../../catalogue/views.ts';
import type { Queryable } from '../../db/pool.ts';
import { readOffers } from '../../mcp/offers.ts';
import type { Platform } from '../../platform.ts';
import { readSettings } from '../../settings/settings.ts';
import { exportSharing } from '../provider-sharing.ts';

/** Settings, users and catalogues as the parts of a manifest, page by page (contract.md section 10). */

type Needs = Pick<Platform, 'config' | 'secrets'>;
/** Called with what a manifest cannot express about this installation. */
export type OnLoss = (message: string) => void;

const usersPage = 200;

/** Everything except users and conversations. Secrets are placeholders. */
export async function exportHead(deps: Needs, db: Queryable, onLoss: OnLoss): Promise<ManifestHead> {
  const { branding, oidc: stored, instructions, turnBudget } = await readSettings(db);
  const { clientSecret, ...oidc } = stored;
  const head: ManifestHead = {
    version: 1,
    branding,
    oidc: { ...oidc, ...(clientSecret === null ? {} : { clientSecret: secretPlaceholder }) },
    ...(instructions === null ? {} : { instructions }),
    turnBudget,
    ...(await exportOffers(db)),
  };
  if (deps.config.edition !== 'managed') return head;
  const catalogues = await readCatalogues(deps, db, [{ id: installationOwner, label: 'the installation' }], onLoss);
  return { ...head, ...catalogues.get(installationOwner) };
}

async function exportOffers(db: Queryable): Promise<Pick<ManifestHead, 'mcpOffers'>> {
  const rows = await readOffers(db);
  if (rows.length === 0) return {};
  const mcpOffers = rows.map(({ name, description, transport, url, command, args, client_id, ...row }) => ({
    name,
    description,
    transport,
    ...(command === null ? { url, clientId: client_id } : { command, args: args ?? [] }),
    headerNames: row.header_names,
    envNames: row.env_names,
  }));
  return { mcpOffers };
}

type UserRow = {
  id: string;
  email: string;
  name: string;
  role: ManifestUser['role'];
  enabled: boolean;
  providerSettingsEnabled: boolean;
  mcpSettingsEnabled: boolean;
  hasPassword: boolean;
  instructions: string | null;
  aboutMe: ManifestUser['aboutMe'] | null;
};

/** All users by e-mail address, with their catalogues in the community edition; deleted accounts are in no manifest. */
export async function* exportUsers(deps: Needs, db: Queryable, onLoss: OnLoss): AsyncGenerator<ManifestUser, void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<UserRow>`
      select u.id, u.email, u.name, u.role, u.enabled, u.provider_settings_enabled as "providerSettingsEnabled",
        u.mcp_settings_enabled as "mcpSettingsEnabled", exists (select from credentials c
          where c.user_id = u.id and c.provider_id = 'credential' and c.password is not null) as "hasPassword",
        u.instructions, u.about_me as "aboutMe"
      from users u where u.email > ${after} and u.deleted_at is null order by u.email limit ${usersPage}`.execute(db);
    if (rows.length === 0) return;
    const owners = rows.map(({ id, email }) => ({ id, label: email }));
    const isManaged = deps.config.edition === 'managed';
    const catalogues = isManaged ? undefined : await readCatalogues(deps, db, owners, onLoss);
    for (const { id, hasPassword, providerSettingsEnabled, instructions, aboutMe, ...user } of rows) {
      yield {
        ...user,
        ...(hasPassword ? { password: secretPlaceholder } : {}),
        ...(instructions === null ? {} : { instructions }),
        ...(aboutMe === null ? {} : { aboutMe }),
        ...(catalogues === undefined ? {} : { providerSettingsEnabled, ...catalogues.get(id) }),
      };
      after = user.email;
    }
  }
}

type Catalogue = Pick<ManifestUser, 'modelTiers' | 'providers'>;

async function readCatalogues(
  deps: Needs,
  db: Queryable,
  owners: readonly { id: string; label: string }[],
  onLoss: OnLoss,
): Promise<Map<string, Catalogue>> {
  const ids = owners.map((owner) => owner.id);
  const tiers = await readTiers(db, ids);
  const rows = await readProviders(db, ids);
  const sharing = await exportSharing(db, rows);
  const standIns = await readNamedStandIns(db, ids);
  const providers = Map.groupBy(rows, (row) => row.owner_id);
  const models = Map.groupBy(await readModels(db, ids), (row) => row.provider_id);
  return new Map(
    owners.map(({ id, label }) => {
      const own = (providers.get(id) ?? []).map((row) => {
        const sharedWith = sharing.get(row.id);
        const provider = exportProvider(deps, row, { models: models.get(row.id) ?? [], standIns }, (loss) =>
          onLoss(`${label}: ${loss}`),
        );
        return sharedWith === undefined ? provider : { ...provider, sharedWith };
      });
      const modelTiers = tiers.get(id);
      return [
        id,
        { ...(modelTiers === undefined ? {} : { modelTiers }), ...(own.length === 0 ? {} : { providers: own }) },
      ];
    }),
  );
}

type OwnModels = { models: readonly ModelRow[]; standIns: Awaited<ReturnType<typeof readNamedStandIns>> };

function exportProvider(
  deps: Needs,
  row: ProviderRow,
  { models, standIns }: OwnModels,
  onLoss: OnLoss,
): ManifestProvider {
  const headers = exportHeaders(deps, row, onLoss);
  return {
    name: row.name,
    kind: row.kind,
    baseUrl: row.base_url,
    ...(row.api_key === null ? {} : { apiKey: secretPlaceholder }),
    ...(headers === undefined ? {} : { headers }),
    enabled: row.enabled,
    ...(row.first_byte_seconds === null ? {} : { firstByteSeconds: row.first_byte_seconds }),
    ...(row.region === null ? {} : { region: row.region }),
    ...(row.only_regions.length === 0 ? {} : { onlyRegions: row.only_regions }),
    models: models.map((model) => ({
      providerModelId: model.provider_model_id,
      displayName: model.display_name,
      contextWindow: model.context_window,
      maxOutputTokens: model.max_output_tokens,
      tier: model.tier,
      enabled: model.enabled,
      ...(model.is_default ? { isDefault: true } : {}),
      ...(Object.keys(model.parameters).length === 0 ? {} : { parameters: model.parameters }),
      ...(model.sources.abilities === 'person' && model.abilities !== null ? { abilities: model.abilities } : {}),
      ...(model.sources.prices === 'person' ? { prices: model.prices } : {}),
      ...exportStandIns(model, standIns.get(model.id) ?? [], onLoss),
    })),
  };
}

/** A manifest names models of the same owner only. */
function exportStandIns(
  model: ModelRow,
  named: readonly (ManifestStandIn | null)[],
  onLoss: OnLoss,
): { standIns?: ManifestStandIn[] } {
  const own = named.flatMap((each) => each ?? []);
  if (own.length < named.length) {
    onLoss(`stand-ins of "${model.provider_model_id}" that belong to other people were left out`);
  }
  return own.length === 0 ? {} : { standIns: own };
}

/** Names only: a header's value can be as secret as any API key. */
function exportHeaders(deps: Needs, row: ProviderRow, onLoss: OnLoss): Record<string, string> | undefined {
  if (row.headers === null) return undefined;
  const found = findHeaders(deps, row, row.headers);
  if (found !== undefined) return Object.fromEntries(Object.keys(found.value).map((name) => [name, secretPlaceholder]));
  onLoss(`the headers of "${row.name}" cannot be decrypted with the current key and were left out`);
  return undefined;
}
