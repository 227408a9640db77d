import type { TokenScope } from '@homeport/contracts/accounts/token-scopes';
import type { User } from '@homeport/contracts/fields';
import type { Logger } from 'pino';
import type { Database } from '../../db/pool.ts';
import { addressBucket } from '../../platform/client-address.ts';
import type { Clock } from '../../platform/clock.ts';
import { toUser, type UserRow } from '../users.ts';
import { tokenWorks } from './token-rule.ts';
import { tokenHash } from './token-secret.ts';
import { knowsNetwork, recordTokenUse } from './tokens.ts';

/** `sessionId` is the token's id. */
type TokenUser = User & { sessionId: string; scopes: readonly TokenScope[]; maintenance: string | null };
/** Finds the owner of a secret; undefined unless the token works. */
export type FindTokenActor = (
  secret: string,
  from: { address: string; requestId: string },
) => Promise<{ actor: TokenUser } | undefined>;

type TokenActorRow = UserRow & {
  tokenId: string;
  scopes: TokenScope[];
  lastUsedAt: Date | null;
  isKnown: boolean;
  maintenance: string | null;
};

/** The last use is exact to this, so that a busy token costs no write for each request. */
const useEveryMs = 5 * 60_000;

// Queried on every request without a cache, like sessions: a deleted token opens nothing any more.
const findStatement = {
  name: 'find-token-actor',
  text: `select t.id as "tokenId", t.scopes, t.last_used_at as "lastUsedAt", ${knowsNetwork('$3::text')} as "isKnown",
      u.id, u.name, u.email, u.role, u.enabled, u.must_change_password, u.provider_settings_enabled, u.mcp_settings_enabled,
      (select coalesce(message, '') from maintenance where since is not null) as maintenance
    from access_tokens t join users u on u.id = t.user_id cross join settings g
    where t.hash = $1 and ${tokenWorks('$2::timestamptz')}`,
};

export function createTokenActorFinder(deps: {
  db: Pick<Database, 'pool' | 'kysely'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
}): FindTokenActor {
  return async (secret, { address, requestId }) => {
    const hash = tokenHash(secret);
    if (hash === undefined) return undefined;
    const now = deps.clock.now();
    const network = addressBucket(address);
    const values = [hash, new Date(now), network];
    const { rows } = await deps.db.pool.query<TokenActorRow>({ ...findStatement, values });
    const row = rows[0];
    if (row === undefined) return undefined;
    if (!row.isKnown || row.lastUsedAt === null || now - row.lastUsedAt.getTime() >= useEveryMs) {
      const token = { id: row.tokenId, userId: row.id };
      // A full disk must not lock out those who only read.
      await recordTokenUse(deps, token, { address, network, requestId }).catch((error: unknown) => {
        deps.log.warn({ cause: error }, 'failed to record the use of an access token');
      });
    }
    const { tokenId, scopes, maintenance } = row;
    return { actor: { ...toUser(row), sessionId: tokenId, scopes, maintenance } };
  };
}
