import type { PublicConfig } from '@homeport/contracts/system';
import { sql } from 'kysely';
import type { Config } from '../config.ts';
import type { Database } from '../db/pool.ts';
import { toSettings } from './settings.ts';

export type PublicConfigDeps = {
  config: Pick<Config, 'edition' | 'artifactMaxUploadBytes' | 'setupClaimToken' | 'version'>;
  db: Pick<Database, 'kysely'>;
};

/**
 * What a browser needs before sign-in: no credentials, no user data (control-plane-api.md "Public"). One statement,
 * nothing cached.
 */
export async function readPublicConfig(deps: PublicConfigDeps): Promise<PublicConfig> {
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
    ])
    .executeTakeFirstOrThrow();
  const { branding, oidc } = toSettings(row);
  return {
    branding,
    setup: { required: row.required, claimRequired: config.setupClaimToken !== undefined },
    sso: oidc.enabled ? { providerKey: oidc.providerKey, label: oidc.label } : null,
    edition: config.edition,
    limits: { artifactMaxUploadBytes: config.artifactMaxUploadBytes },
    maintenance: row.since === null ? null : { since: row.since.toISOString(), message: row.message },
    version: config.version,
  };
}
