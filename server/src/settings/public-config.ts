import type { Maintenance, PageConfig } from '@homeport/contracts/system';
import { sql } from 'kysely';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/pool.ts';
import { type OperationDeps, valuesInForce } from './operation.ts';
import { toSettings } from './settings.ts';

export type PublicConfigDeps = {
  config: Pick<Config, 'edition' | 'setupClaimToken' | 'version'> & OperationDeps['config'];
  db: Pick<Database, 'kysely'>;
};

/**
 * The configuration that a browser needs before sign-in: no credentials, no user data (control-plane-api.md "Public").
 * One statement, nothing cached.
 */
export async function readPageConfig(deps: PublicConfigDeps): Promise<PageConfig> {
  const { config, db } = deps;
  const row = await db.kysely
    .selectFrom('installation')
    .innerJoin('settings', 'settings.singleton', 'installation.singleton')
    .innerJoin('maintenance', 'maintenance.singleton', 'installation.singleton')
    .select(sql<boolean>`setup_completed_at is null and not exists (select 1 from users)`.as('required'))
    .select([
      'settings.branding',
      'settings.oidc',
      'settings.oidc_client_secret',
      'settings.oidc_revision',
      'settings.instructions',
      'maintenance.since',
      'maintenance.message',
      'settings.turn_budget',
      'settings.tokens',
      'settings.token_max_days',
      'settings.sharing',
      'settings.people_search',
      'settings.operation',
    ])
    .executeTakeFirstOrThrow();
  const { branding, oidc } = toSettings(row);
  return {
    branding,
    setup: { required: row.required, claimRequired: config.setupClaimToken !== undefined },
    sso: oidc.enabled ? { providerKey: oidc.providerKey, label: oidc.label } : null,
    edition: config.edition,
    limits: { artifactMaxUploadBytes: valuesInForce(config, row.operation).artifactMaxUploadBytes },
    maintenance: toMaintenance(row),
    version: config.version,
  };
}

/** Reads since when only administrators can write; null outside maintenance. */
export async function readMaintenance({ db }: Pick<PublicConfigDeps, 'db'>): Promise<Maintenance> {
  return toMaintenance(
    await db.kysely.selectFrom('maintenance').select(['since', 'message']).executeTakeFirstOrThrow(),
  );
}

function toMaintenance({ since, message }: { since: Date | null; message: string | null }): Maintenance {
  return since === null ? null : { since: since.toISOString(), message };
}
