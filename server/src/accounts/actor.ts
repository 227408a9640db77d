import type { User } from '@homeport/contracts/fields';
import type { Config } from '../config/config.ts';
import { columnList } from '../db/column-list.ts';
import type { Database } from '../db/pool.ts';
import type { Clock } from '../platform/clock.ts';
import { cookieRule, renewAfterSeconds, sessionCookie, sessionCookieReader, sessionSeconds } from './session-cookie.ts';
import { renewSession } from './sessions.ts';
import { toUser, type UserRow } from './users.ts';

/** The signed-in user of a request. If `enabled` is false, the guard answers 403. */
type SignedInUser = User & { sessionId: string; maintenance: string | null };
/** `setCookie` is the renewed cookie, once a day. */
type FoundActor = { actor: SignedInUser; setCookie: string | undefined };
/** `asksMaintenance`: without it the actor's `maintenance` is null. */
export type FindActor = (
  cookieHeader: string | null | undefined,
  asksMaintenance: boolean,
) => Promise<FoundActor | undefined>;

type ActorRow = UserRow & { sessionId: string; expires_at: Date; maintenance: string | null };

const columns = {
  sessionId: 's.id',
  expires_at: 's.expires_at',
  id: 'u.id',
  name: 'u.name',
  email: 'u.email',
  role: 'u.role',
  enabled: 'u.enabled',
  must_change_password: 'u.must_change_password',
  provider_settings_enabled: 'u.provider_settings_enabled',
  mcp_settings_enabled: 'u.mcp_settings_enabled',
};

// Every request runs one of these statements: named, so that each connection parses and plans it once.
const findStatement = statement('find-actor', 'null::text');
// Looking for maintenance is a quarter of the cost, and reading is always open.
const findWithMaintenance = statement(
  'find-actor-with-maintenance',
  "(select coalesce(message, '') from maintenance where since is not null)",
);

function statement(name: string, maintenance: string) {
  const list = columnList<ActorRow>({ ...columns, maintenance });
  return { name, text: `select ${list} from sessions s join users u on u.id = s.user_id where s.token = $1` };
}

/**
 * Creates the function that finds the caller of a request from its cookie: it checks the signature, then runs one
 * query. Results are not cached, so that disabling an account or ending a session applies from the next request on.
 * Returns undefined if the request has no valid session.
 */
export function createActorFinder(deps: {
  config: Pick<Config, 'baseUrl' | 'authSecret'>;
  db: Pick<Database, 'pool'>;
  clock: Clock;
}): FindActor {
  const rule = cookieRule(deps.config);
  const readCookie = sessionCookieReader(rule);
  return async (cookieHeader, asksMaintenance) => {
    const cookie = readCookie(cookieHeader ?? undefined);
    if (cookie === undefined) return undefined;
    const { rows } = await deps.db.pool.query<ActorRow>({
      ...(asksMaintenance ? findWithMaintenance : findStatement),
      values: [cookie.token],
    });
    const row = rows[0];
    const now = deps.clock.now();
    if (row === undefined || row.expires_at.getTime() <= now) return undefined;
    const { sessionId, maintenance } = row;
    const actor = { ...toUser(row), sessionId, maintenance };
    const due = row.expires_at.getTime() <= now + (sessionSeconds - renewAfterSeconds) * 1000;
    const renewed =
      due && row.enabled && cookie.remembered && (await renewSession(deps.db, sessionId, row.expires_at, now));
    return { actor, setCookie: renewed ? sessionCookie(rule, cookie.token) : undefined };
  };
}
