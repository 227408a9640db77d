import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { toUser, type UserRow } from '../accounts/users.ts';
import type { Database } from '../db/pool.ts';
import type { Clock } from '../platform/clock.ts';
import { RequestBudget } from './request-budget.ts';
import { modelTokenHash, workspaceTokenHash } from './tokens.ts';
import type { Workspaces } from './workspaces.ts';

/** The user that a workspace's token belongs to, enabled or not. */

// Queried on every request without a cache: a stop or a disabled account takes effect with the next one.
const findStatement = statement('find-workspace-user', 'token_hash');
const findByModelToken = statement('find-workspace-user-by-model-token', 'model_token_hash');

function statement(name: string, column: string) {
  const text = `select u.id, u.name, u.email, u.role, u.enabled, u.must_change_password, u.provider_settings_enabled, u.mcp_settings_enabled,
      (select coalesce(message, '') from maintenance where since is not null) as maintenance
    from workspaces w join users u on u.id = w.user_id where w.${column} = $1 and w.phase in ('starting', 'running')`;
  return { name, text };
}

export type TokenKind = 'workspace' | 'models';

/** `maintenance`: its message while there is some. `tokenHash`: of the token by which the user was found. */
export type WorkspaceUser = User & { maintenance?: string | null; tokenHash?: string };

/** Undefined for an invalid or expired token. `kind`: `models` is the narrower one that programs have. */
export async function findWorkspaceUser(
  deps: { db: Pick<Database, 'pool'> },
  token: string,
  kind: TokenKind = 'workspace',
): Promise<WorkspaceUser | undefined> {
  const isOwn = kind === 'workspace';
  const hash = isOwn ? workspaceTokenHash(token) : modelTokenHash(token);
  if (hash === undefined) return undefined;
  const { rows } = await deps.db.pool.query<UserRow & { maintenance: string | null }>({
    ...(isOwn ? findStatement : findByModelToken),
    values: [hash],
  });
  const row = rows[0];
  return row === undefined ? undefined : { ...toUser(row), maintenance: row.maintenance, tokenHash: hash };
}

/**
 * Which of these token hashes may still ask models: their workspace has not ended, its user's account is enabled, and
 * the user lets programs use models. A withdrawn token is found nowhere.
 */
export async function findLivePrograms(db: Pick<Database, 'pool'>, hashes: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.pool.query<{ hash: string }>({
    name: 'live-programs',
    text: `select h.hash from unnest($1::text[]) h(hash)
      join workspaces w on (w.model_token_hash = h.hash or w.token_hash = h.hash) and w.phase in ('starting', 'running')
      join users u on u.id = w.user_id and u.enabled and not u.must_change_password
      left join tool_rules r on r.user_id = u.id
      where coalesce((r.rules ->> 'programModels')::boolean, true)`,
    values: [hashes],
  });
  return new Set(rows.map(({ hash }) => hash));
}

/** Requests of one workspace: enough for a loop over files, but not for a flood. */
const burst = 500;
const perSecond = 50;

type IdentifyWorkspace = (
  authorization: string | undefined,
  isForModels: boolean,
) => Promise<{ actor: WorkspaceUser & { sessionId: string } } | undefined>;

/**
 * The caller of a workspace endpoint, from its authorization header; undefined if there is none. Throws `rate_limited`
 * if the workspace sends too many requests. A workspace has no session.
 */
export function createWorkspaceCaller(deps: {
  workspaces: Pick<Workspaces, 'findUser'>;
  clock: Clock;
}): IdentifyWorkspace {
  const budget = new RequestBudget({ burst, perSecond, now: () => deps.clock.now() });
  return async (authorization, isForModels) => {
    const token = bearerOf(authorization);
    const kind = isForModels && token?.startsWith('wmt_') === true ? 'models' : 'workspace';
    const user = token === undefined ? undefined : await deps.workspaces.findUser(token, kind);
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
