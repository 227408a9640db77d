import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { toUser, type UserRow } from '../accounts/users.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/pool.ts';
import { RequestBudget } from './request-budget.ts';
import { workspaceTokenHash } from './tokens.ts';

/** Who a workspace's token speaks for: its user, enabled or not. */

// Asked at every request, nothing is cached: a stop or a disabled account holds from the next one on.
const findStatement = {
  name: 'find-workspace-user',
  text: `select u.id, u.name, u.email, u.role, u.enabled, u.must_change_password, u.provider_settings_enabled, u.mcp_settings_enabled
    from workspaces w join users u on u.id = w.user_id where w.token_hash = $1 and w.phase in ('starting', 'running')`,
};

/** Undefined for a token that is not, or no longer, one. */
export async function findWorkspaceUser(
  deps: { db: Pick<Database, 'pool'> },
  token: string,
): Promise<User | undefined> {
  const hash = workspaceTokenHash(token);
  if (hash === undefined) return undefined;
  const { rows } = await deps.db.pool.query<UserRow>({ ...findStatement, values: [hash] });
  const row = rows[0];
  return row === undefined ? undefined : toUser(row);
}

/** Requests of one workspace: what a loop over files needs, not what a flood wants. */
const burst = 500;
const perSecond = 50;

/**
 * The caller of a workspace endpoint, from its authorization header; undefined: it is none. Throws `rate_limited` when the workspace asks too
 * often. A workspace has no session.
 */
export function createWorkspaceCaller(deps: {
  workspaces: { findUser(token: string): Promise<User | undefined> };
  clock: Clock;
}): (authorization: string | undefined) => Promise<{ actor: User & { sessionId: string } } | undefined> {
  const budget = new RequestBudget({ burst, perSecond, now: () => deps.clock.now() });
  return async (authorization) => {
    const token = bearerOf(authorization);
    const user = token === undefined ? undefined : await deps.workspaces.findUser(token);
    if (user === undefined) return undefined;
    const waitSeconds = budget.take(user.id);
    if (waitSeconds > 0) {
      throw new ApiError('rate_limited', 'Too many requests from this workspace. Wait a moment.', {
        retryAfter: waitSeconds,
      });
    }
    return { actor: { ...user, sessionId: '' } };
  };
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +([^\s,]{1,200})$/i.exec(authorization ?? '')?.[1];
}
