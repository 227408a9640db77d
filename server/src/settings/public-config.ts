import type { PublicConfig } from '@homeport/contracts/system';
import { sql } from 'kysely';
import type { Config } from '../config.ts';
import type { Database } from '../db/pool.ts';
import { defaultBranding } from './branding.ts';

export type PublicConfigDeps = {
  config: Pick<Config, 'edition' | 'artifactMaxUploadBytes' | 'setupClaimToken'>;
  db: Pick<Database, 'kysely'>;
};

/** What a browser needs before sign-in: no credentials, no user data (specification "Public"). */
export async function readPublicConfig(deps: PublicConfigDeps): Promise<PublicConfig> {
  const { config, db } = deps;
  const { required } = await db.kysely
    .selectFrom('installation')
    .select(sql<boolean>`setup_completed_at is null and not exists (select 1 from users)`.as('required'))
    .executeTakeFirstOrThrow();
  return {
    branding: { ...defaultBranding },
    setup: { required, claimRequired: config.setupClaimToken !== undefined },
    sso: null,
    edition: config.edition,
    limits: { artifactMaxUploadBytes: config.artifactMaxUploadBytes },
  };
}
