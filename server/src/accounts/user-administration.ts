import type { Personalization } from '@homeport/contracts/accounts';
import type { ManagedUser, userBody, userPatchBody } from '@homeport/contracts/admin';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { type Selectable, sql } from 'kysely';
import type { z } from 'zod';
import { type AuditSource, changedFields, recordEvent } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
import { afterCursor, encodeCursor, microsOf, pageOf } from '../db/keyset.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { UsersTable } from '../db/tables/people.ts';
import { findPasswordHash, setPassword } from './credentials.ts';
import { hashPassword } from './passwords.ts';
import { deleteSessionsOf, endOtherSessions } from './sessions.ts';
import {
  changeUser,
  emailTaken,
  insertUser,
  isEmailTaken,
  type PersonalizationChange,
  setSwitches,
  toUser,
  updatePersonalization,
} from './users.ts';

/** Administration of accounts (control-plane-api.md "PATCH /api/admin/users", contract.md section 3). */

type Deps = { db: Pick<Database, 'kysely'>; config: Pick<Config, 'edition'> };
type UserInput = z.output<typeof userBody>;
type BulkInput = Extract<z.output<typeof userPatchBody>, { all: true }>;
type UserPatch = Exclude<z.output<typeof userPatchBody>, { all: true }>;
type Administrator = { id: string; sessionId: string };
type PageRequest = { q?: string; limit?: number; cursor?: string };

/** One page of all users, newest first; `q` matches part of a name or address, ignoring case, or an id. */
export async function listUsers(
  deps: Pick<Deps, 'db'>,
  request: PageRequest,
): Promise<{ users: ManagedUser[]; nextCursor: string | null }> {
  const { q, limit = limits.pageDefault } = request;
  let query = managedUsers(deps.db.kysely)
    .where('users.deleted_at', 'is', null)
    .where(afterCursor('users.created_at', 'users.id', request.cursor))
    .orderBy('users.created_at', 'desc')
    .orderBy('users.id', 'desc')
    .limit(limit + 1);
  if (q !== undefined && q !== '') {
    const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`;
    query = query.where((where) =>
      where.or([
        where('users.name', 'ilike', pattern),
        where('users.email', 'ilike', pattern),
        where('users.id', '=', q),
      ]),
    );
  }
  const { shown, nextCursor } = pageOf(await query.execute(), limit, (last) =>
    encodeCursor({ micros: last.created_micros, id: last.id }),
  );
  return { users: shown.map(managedUser), nextCursor };
}

/** Creates an account. Throws `email_taken`, and `invalid_request` for a switch or flag that makes no sense here. */
export async function createUser(deps: Deps, input: UserInput, by: AuditSource): Promise<ManagedUser> {
  assertSwitches(deps, input);
  if (input.mustChangePassword === true && input.password === undefined) throw noPasswordToChange();
  // Before the expensive hash; the insert checks it again.
  if (await isEmailTaken(deps.db.kysely, input.email)) throw emailTaken();
  const hash = input.password === undefined ? undefined : await hashPassword(input.password);
  return inTransaction(deps.db, async (transaction) => {
    const user = await insertUser(transaction, { ...input, role: input.role ?? 'user' });
    if (hash !== undefined) await setPassword(transaction, user.id, hash);
    const details = { email: user.email, role: user.role, withPassword: hash !== undefined };
    await recordEvent(transaction, by, { action: 'user.created', targetType: 'user', targetId: user.id, details });
    return readUser(transaction, user.id);
  });
}

/**
 * Changes one account. A new password ends that user's sessions, except the administrator's own current one. Throws
 * `not_found`, `last_admin`, `email_taken`, `invalid_request`.
 */
export async function administerUser(
  deps: Deps,
  administrator: Administrator,
  patch: UserPatch,
  by: AuditSource,
): Promise<ManagedUser> {
  assertSwitches(deps, patch);
  const { id, password, ...changes } = patch;
  const hash = password === undefined ? undefined : await hashPassword(password);
  return inTransaction(deps.db, async (transaction) => {
    await changeUser(transaction, id, changes);
    if (hash !== undefined) {
      await setPassword(transaction, id, hash);
      if (id === administrator.id) await endOtherSessions(transaction, administrator);
      else await deleteSessionsOf(transaction, id);
    }
    if (changes.mustChangePassword === true && (await findPasswordHash(transaction, id)) === undefined) {
      throw noPasswordToChange();
    }
    const changed = changedFields({ ...changes, password });
    if (changed.length > 0) {
      const details = { changed, ...definedOf(changes) };
      await recordEvent(transaction, by, { action: 'user.updated', targetType: 'user', targetId: id, details });
    }
    return readUser(transaction, id);
  });
}

/** Changes a person's own layer of the prompt context; the audit log records only that instructions changed. */
export async function changePersonalization(
  deps: Pick<Deps, 'db'>,
  userId: string,
  change: PersonalizationChange,
  by: AuditSource,
): Promise<Personalization> {
  return inTransaction(deps.db, async (transaction) => {
    const personalization = await updatePersonalization(transaction, userId, change);
    if (change.instructions !== undefined) {
      const details = { changed: ['instructions'] };
      await recordEvent(transaction, by, { action: 'user.updated', targetType: 'user', targetId: userId, details });
    }
    return personalization;
  });
}

/**
 * Sets switches of all existing accounts that are not administrators; later accounts are not affected. Returns their
 * number.
 */
export async function administerAll(deps: Deps, input: BulkInput, by: AuditSource): Promise<number> {
  assertSwitches(deps, input);
  const { providerSettingsEnabled, mcpSettingsEnabled } = input;
  return inTransaction(deps.db, async (transaction) => {
    const updated = await setSwitches(transaction, { providerSettingsEnabled, mcpSettingsEnabled });
    const details = { ...definedOf({ providerSettingsEnabled, mcpSettingsEnabled }), updated };
    await recordEvent(transaction, by, { action: 'users.updated', details });
    return updated;
  });
}

/** Throws `invalid_request` for providerSettingsEnabled in the managed edition (contract.md section 4). */
export function assertSwitches(deps: Pick<Deps, 'config'>, input: { providerSettingsEnabled?: boolean }): void {
  if (deps.config.edition !== 'managed' || input.providerSettingsEnabled === undefined) return;
  const message = 'The managed edition has one shared catalogue, which administrators edit';
  throw new ApiError('invalid_request', message, { details: [{ path: 'providerSettingsEnabled', message }] });
}

function noPasswordToChange(): ApiError {
  const message = 'This account has no password to change';
  return new ApiError('invalid_request', message, { details: [{ path: 'mustChangePassword', message }] });
}

function definedOf(changes: Record<string, string | boolean | undefined>): Record<string, string | boolean> {
  const defined: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) defined[name] = value;
  return defined;
}

type ManagedRow = Selectable<UsersTable> & {
  created_micros: number;
  has_password: boolean;
  last_seen_at: Date | null;
};

function managedUsers(db: Queryable) {
  return db
    .selectFrom('users')
    .selectAll('users')
    .select([
      sql.raw<number>(microsOf('users.created_at')).as('created_micros'),
      sql<boolean>`exists (select from credentials c
        where c.user_id = users.id and c.provider_id = 'credential' and c.password is not null)`.as('has_password'),
      sql<Date | null>`(select max(s.updated_at) from sessions s where s.user_id = users.id)`.as('last_seen_at'),
    ]);
}

async function readUser(db: Queryable, id: string): Promise<ManagedUser> {
  return managedUser(await managedUsers(db).where('users.id', '=', id).executeTakeFirstOrThrow());
}

function managedUser(row: ManagedRow): ManagedUser {
  return {
    ...toUser(row),
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
    hasPassword: row.has_password,
  };
}
