import { randomUUIDv7 } from 'node:crypto';
import { adminScopes, type TokenScope } from '@homeport/contracts/accounts/token-scopes';
import type { AccessToken, tokenBody, UserToken } from '@homeport/contracts/accounts/tokens';
import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { z } from 'zod';
import { type AuditSource, recordEvent } from '../../audit/audit.ts';
import { afterCursor, encodeCursor, microsOf, pageOf } from '../../db/keyset.ts';
import { type Database, inTransaction, type Queryable } from '../../db/pool.ts';
import type { Clock } from '../../platform/clock.ts';
import { readSettings } from '../../settings/settings.ts';
import { lockUser } from '../users.ts';
import { assertMayHaveTokens, endOfNew, mayHaveTokens, tokenEnd } from './token-rule.ts';
import { newTokenSecret, startOf, tokenHash } from './token-secret.ts';

/** The only writer of `access_tokens`. */

type Deps = { db: Pick<Database, 'kysely'>; clock: Clock };
type TokenInput = z.output<typeof tokenBody>;
type TokenRow = {
  id: string;
  name: string;
  scopes: TokenScope[];
  start: string;
  created_at: Date;
  ends_at: Date | null;
  last_used_at: Date | null;
  last_used_address: string | null;
};

/** Networks of a token that are remembered; the use from any further one is not recorded. */
const networksMax = 100;
/** Ended tokens are listed this long. */
const endedDays = 30;

/** Creates a token; `secret` is stored nowhere. Throws `forbidden` and `invalid_request`. */
export async function createToken(
  deps: Deps,
  owner: Pick<User, 'id' | 'role'>,
  { name, scopes, expiresAt }: TokenInput,
  by: AuditSource,
): Promise<{ token: AccessToken; secret: string }> {
  const secret = newTokenSecret();
  const hash = tokenHash(secret);
  if (hash === undefined) throw new Error('A new secret is not valid');
  return inTransaction(deps.db, async (trx) => {
    const { role } = await lockUser(trx, owner.id);
    const settings = await readSettings(trx);
    assertMayHaveTokens(settings, { role });
    if (role !== 'admin' && scopes.some((scope) => adminScopes.includes(scope))) {
      throw new ApiError('forbidden', 'Only administrators can give a token these scopes');
    }
    const now = deps.clock.now();
    const end = endOfNew(settings, expiresAt, now, limits.tokenDaysDefault);
    await makeRoom(trx, owner.id, now);
    const id = randomUUIDv7();
    const row = { id, user_id: owner.id, name, scopes, start: startOf(secret), hash };
    const times = { created_at: new Date(now), expires_at: end };
    await trx
      .insertInto('access_tokens')
      .values({ ...row, ...times })
      .execute();
    const details = { name, scopes, expiresAt: end?.toISOString() ?? null };
    await recordEvent(trx, by, { action: 'token.created', targetType: 'token', targetId: id, details });
    const unused = { last_used_at: null, last_used_address: null };
    return { token: viewToken({ ...row, created_at: times.created_at, ends_at: end, ...unused }), secret };
  });
}

/** Removes tokens that ended long ago. Throws `forbidden` if no more fit. */
async function makeRoom(trx: Queryable, userId: string, now: number): Promise<void> {
  await trx
    .deleteFrom('access_tokens')
    .where('user_id', '=', userId)
    .where('expires_at', '<', new Date(now - endedDays * 86_400_000))
    .execute();
  const { count } = await trx
    .selectFrom('access_tokens')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (count >= limits.tokensPerUser) {
    throw new ApiError('forbidden', `An account has at most ${limits.tokensPerUser} access tokens. Delete one first.`);
  }
}

/** The owner's tokens, newest first, and whether and how long the owner may have new ones. */
export async function listTokens(
  deps: Deps,
  owner: Pick<User, 'id' | 'role'>,
): Promise<{ tokens: AccessToken[]; allowed: boolean; maxDays: number | null }> {
  const settings = await readSettings(deps.db.kysely);
  const rows = await tokenRows(deps.db.kysely)
    .where('t.user_id', '=', owner.id)
    .orderBy('t.created_at', 'desc')
    .orderBy('t.id', 'desc')
    .limit(limits.tokensPerUser)
    .execute();
  return { tokens: rows.map(viewToken), allowed: mayHaveTokens(settings, owner), maxDays: settings.tokenMaxDays };
}

/** The tokens of all users, newest first. */
export async function listAllTokens(
  deps: Deps,
  { limit = limits.pageDefault, cursor }: { limit?: number; cursor?: string },
): Promise<{ tokens: UserToken[]; nextCursor: string | null }> {
  const rows = await tokenRows(deps.db.kysely)
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select(['u.id as userId', 'u.name as userName', 'u.email', sql.raw<number>(microsOf('t.created_at')).as('micros')])
    .where(afterCursor('t.created_at', 't.id', cursor))
    .orderBy('t.created_at', 'desc')
    .orderBy('t.id', 'desc')
    .limit(limit + 1)
    .execute();
  const { shown, nextCursor } = pageOf(rows, limit, encodeCursor);
  const tokens = shown.map((row) => ({
    ...viewToken(row),
    user: { id: row.userId, name: row.userName, email: row.email },
  }));
  return { tokens, nextCursor };
}

function tokenRows(db: Queryable) {
  return db
    .selectFrom('access_tokens as t')
    .innerJoin('settings as g', (join) => join.onTrue())
    .select(['t.id', 't.name', 't.scopes', 't.start', 't.created_at', 't.last_used_at', 't.last_used_address'])
    .select(sql.raw<Date | null>(tokenEnd).as('ends_at'));
}

/** Deletes a token; with `ownerId` only one of that user. Throws `not_found`. */
export async function deleteToken(
  deps: Pick<Deps, 'db'>,
  which: { id: string; ownerId?: string },
  by: AuditSource,
): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    let query = trx.deleteFrom('access_tokens').where('id', '=', which.id);
    if (which.ownerId !== undefined) query = query.where('user_id', '=', which.ownerId);
    const deleted = await query.returning(['user_id', 'name']).executeTakeFirst();
    if (deleted === undefined) throw new ApiError('not_found', 'Token not found');
    const details = { name: deleted.name, ownerId: deleted.user_id };
    await recordEvent(trx, by, { action: 'token.deleted', targetType: 'token', targetId: which.id, details });
  });
}

/** Deletes every token of a user. */
export async function deleteTokensOf(db: Queryable, userId: string): Promise<void> {
  await db.deleteFrom('access_tokens').where('user_id', '=', userId).execute();
}

/** Records the use of a token, and in the audit log its first one from a network. */
export async function recordTokenUse(
  deps: Deps,
  token: { id: string; userId: string },
  from: { address: string; network: string; requestId: string },
): Promise<void> {
  const { address, network, requestId } = from;
  await inTransaction(deps.db, async (trx) => {
    const row = await trx
      .selectFrom('access_tokens')
      .select('networks')
      .where('id', '=', token.id)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) return;
    const isNew = !row.networks.includes(network) && row.networks.length < networksMax;
    await trx
      .updateTable('access_tokens')
      .set({
        last_used_at: new Date(deps.clock.now()),
        last_used_address: address,
        ...(isNew ? { networks: [...row.networks, network] } : {}),
      })
      .where('id', '=', token.id)
      .execute();
    if (!isNew) return;
    const by = { actorId: token.userId, address, requestId };
    await recordEvent(trx, by, { action: 'token.used', targetType: 'token', targetId: token.id });
  });
}

/** SQL: whether the network in `network` is known for token `t`, or too many are for another. */
export function knowsNetwork(network: string): string {
  return `(${network} = any(t.networks) or cardinality(t.networks) >= ${networksMax})`;
}

function viewToken(row: TokenRow): AccessToken {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    start: row.start,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.ends_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    lastUsedAddress: row.last_used_address,
  };
}
