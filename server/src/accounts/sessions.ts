import { randomBytes, randomUUIDv7 } from 'node:crypto';
import type { AccountSession } from '@homeport/contracts/accounts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { Selectable } from 'kysely';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { SessionsTable } from '../db/tables/people.ts';
import type { Clock } from '../platform/clock.ts';
import { sessionSeconds } from './session-cookie.ts';
import { tokenWorks } from './tokens/token-rule.ts';

/** The only writer of `sessions`. */

/** Origin of a new session; `userAgent` is truncated. */
export type SessionOrigin = { address: string; userAgent: string | null };
/** The kind of a new session: one that is not remembered lasts a day. */
type SessionKind = { remembered?: boolean; byOidc?: boolean; signOutUrl?: string | undefined };
type Caller = { id: string; sessionId: string };
type Deps = { db: Pick<Database, 'kysely'>; clock: Clock };

const userAgentMax = 512;
const sessionsPerUser = 100;
const forgottenSeconds = 86_400;

/** The user agent as it is stored. */
function storedUserAgent(text: string | null): string {
  return (text ?? '').slice(0, userAgentMax);
}

/** Opens a session. `token` is the secret in its cookie and must not go anywhere else. */
export async function insertSession(
  db: Queryable,
  userId: string,
  from: SessionOrigin,
  now: number,
  { remembered = true, byOidc = false, signOutUrl }: SessionKind = {},
): Promise<{ id: string; token: string }> {
  const seconds = remembered ? sessionSeconds : forgottenSeconds;
  const session = { id: randomUUIDv7(), token: randomBytes(24).toString('base64url') };
  await db
    .insertInto('sessions')
    .values({
      ...session,
      user_id: userId,
      expires_at: new Date(now + seconds * 1000),
      ip_address: from.address,
      user_agent: storedUserAgent(from.userAgent),
      created_at: new Date(now),
      updated_at: new Date(now),
      by_oidc: byOidc,
      sign_out_url: signOutUrl ?? null,
    })
    .execute();
  return session;
}

/** Renews a session's full lifetime; of several simultaneous requests, one does. Returns whether this one did. */
export async function renewSession(
  db: Pick<Database, 'pool'>,
  sessionId: string,
  expiresAt: Date,
  now: number,
): Promise<boolean> {
  const { rowCount } = await db.pool.query(
    'update sessions set expires_at = $1, updated_at = $2 where id = $3 and expires_at = $4',
    [new Date(now + sessionSeconds * 1000), new Date(now), sessionId, expiresAt],
  );
  return rowCount === 1;
}

/** Lists the caller's sessions, newest first, without their tokens. */
export async function listSessions(deps: Deps, caller: Caller): Promise<AccountSession[]> {
  const rows = await deps.db.kysely
    .selectFrom('sessions')
    .select(['id', 'created_at', 'user_agent', 'ip_address'])
    .where('user_id', '=', caller.id)
    .where('expires_at', '>', new Date(deps.clock.now()))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(sessionsPerUser)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    current: row.id === caller.sessionId,
    createdAt: row.created_at.toISOString(),
    userAgent: row.user_agent === '' ? null : row.user_agent,
    address: row.ip_address === '' ? null : row.ip_address,
  }));
}

/**
 * Which of these sessions and access tokens are still valid: not ended or expired, the account enabled and not required to change its
 * password.
 */
export async function findLiveSessions(
  db: Pick<Database, 'pool'>,
  ids: readonly string[],
  now: number,
): Promise<Set<string>> {
  const { rows } = await db.pool.query<{ id: string }>({
    name: 'live-sessions',
    text: `select s.id from sessions s join users u on u.id = s.user_id
        where s.id = any($1::text[]) and s.expires_at > $2 and u.enabled and not u.must_change_password
      union all
      select t.id from access_tokens t join users u on u.id = t.user_id cross join settings g
        where t.id = any($1::text[]) and not u.must_change_password and ${tokenWorks('$2::timestamptz')}`,
    values: [ids, new Date(now)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Ends one of the caller's sessions, or all except the current one; returns how many. Throws `not_found`. */
export async function endSessions(
  deps: Deps,
  caller: Caller,
  which: { id: string } | 'others',
  by: AuditSource,
): Promise<number> {
  return inTransaction(deps.db, async (transaction) => {
    const ended =
      which === 'others'
        ? await endOtherSessions(transaction, caller)
        : await endSession(transaction, caller, which.id);
    if (ended === 0) return 0;
    const target = which === 'others' ? { details: { others: true, ended } } : { targetId: which.id };
    await recordEvent(transaction, by, { action: 'session.ended', targetType: 'session', ...target });
    return ended;
  });
}

async function endSession(db: Queryable, caller: Caller, sessionId: string): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('id', '=', sessionId)
    .where('user_id', '=', caller.id)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new ApiError('not_found', 'Session not found');
  return Number(numDeletedRows);
}

/** Ends all sessions of the caller except the current one; returns how many. */
export async function endOtherSessions(db: Queryable, caller: Caller): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('user_id', '=', caller.id)
    .where('id', '!=', caller.sessionId)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Ends the session of a token; resolves with the session if it still existed. */
export async function endSessionOfToken(
  db: Queryable,
  token: string,
): Promise<Pick<Selectable<SessionsTable>, 'id' | 'user_id' | 'by_oidc' | 'sign_out_url'> | undefined> {
  return db
    .deleteFrom('sessions')
    .where('token', '=', token)
    .returning(['id', 'user_id', 'by_oidc', 'sign_out_url'])
    .executeTakeFirst();
}

/** Throws `recent_sign_in_required` if the session began more than an hour ago. */
export async function assertRecentSession(db: Queryable, sessionId: string, now: number): Promise<void> {
  const since = new Date(now - limits.recentSignInMinutes * 60_000);
  const query = db.selectFrom('sessions').select('id').where('id', '=', sessionId).where('created_at', '>=', since);
  if ((await query.executeTakeFirst()) !== undefined) return;
  throw new ApiError('recent_sign_in_required', 'Sign out and in again first: this needs a recent sign-in.');
}

/** Ends every session of a user; returns how many. */
export async function deleteSessionsOf(db: Queryable, userId: string): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('sessions').where('user_id', '=', userId).executeTakeFirst();
  return Number(numDeletedRows);
}

/** Signs everybody out; returns the number of sessions. */
export async function endEverySession(db: Queryable): Promise<number> {
  return Number((await db.deleteFrom('sessions').executeTakeFirst()).numDeletedRows);
}

/** Ends every session of these users except the one of the person who asks for it. */
export async function deleteSessionsOfUsers(db: Queryable, userIds: readonly string[], keptId: string): Promise<void> {
  if (userIds.length === 0) return;
  await db.deleteFrom('sessions').where('user_id', 'in', userIds).where('id', '!=', keptId).execute();
}

/**
 * Removes the user's expired sessions, and the oldest ones above a limit, so that signing in cannot make the table
 * grow.
 */
export async function trimSessions(db: Queryable, userId: string, now: number): Promise<void> {
  const kept = db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .where('expires_at', '>', new Date(now))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(sessionsPerUser);
  await db.deleteFrom('sessions').where('user_id', '=', userId).where('id', 'not in', kept).execute();
}

/** The session of a token with its user's row. */
export async function findSessionAndUser(db: Queryable, token: string) {
  const session = await db.selectFrom('sessions').selectAll().where('token', '=', token).executeTakeFirst();
  if (session === undefined) return undefined;
  const user = await db.selectFrom('users').selectAll().where('id', '=', session.user_id).executeTakeFirst();
  return user === undefined ? undefined : { session, user };
}
