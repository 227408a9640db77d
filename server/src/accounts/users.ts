import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import type { Role, User } from '@homeport/contracts/fields';
import { type Selectable, sql } from 'kysely';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { UsersTable } from '../db/tables.ts';
import { deleteSessionsOf } from './sessions.ts';

/** The only writer of `users`. */

export type NewUser = {
  name: string;
  email: string;
  role: Role;
  mustChangePassword?: boolean;
  providerSettingsEnabled?: boolean;
  mcpSettingsEnabled?: boolean;
};

type Deps = { db: Pick<Database, 'kysely'> };

/** A row as the API shows one. */
export function toUser(row: Selectable<UsersTable>): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    enabled: row.enabled,
    mustChangePassword: row.must_change_password,
    providerSettingsEnabled: row.provider_settings_enabled,
    mcpSettingsEnabled: row.mcp_settings_enabled,
  };
}

/** Adds a user. Throws `email_taken`; inside a transaction, nothing but a rollback can follow that. */
export async function insertUser(db: Queryable, user: NewUser): Promise<User> {
  const row = await db
    .insertInto('users')
    .values({
      id: randomUUIDv7(),
      name: user.name,
      email: user.email.toLowerCase(),
      role: user.role,
      must_change_password: user.mustChangePassword,
      provider_settings_enabled: user.providerSettingsEnabled,
      mcp_settings_enabled: user.mcpSettingsEnabled,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw new ApiError('email_taken', 'Another account has this e-mail address');
  return toUser(row);
}

/** Throws `not_found`. */
export async function getUser(deps: Deps, userId: string): Promise<User> {
  const row = await deps.db.kysely.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst();
  if (row === undefined) throw userNotFound();
  return toUser(row);
}

/** Throws `not_found`. */
export async function renameUser(deps: Deps, userId: string, name: string): Promise<User> {
  return updateUser(deps.db.kysely, userId, { name });
}

/** Says whether the user must choose a new password before anything else. Throws `not_found`. */
export async function setMustChangePassword(db: Queryable, userId: string, mustChange: boolean): Promise<User> {
  return updateUser(db, userId, { must_change_password: mustChange });
}

/**
 * Disables or enables an account. While it is disabled its sessions stay, so that their cookies answer `account_disabled`;
 * enabling it removes them, so that they answer 401 (contract section 3). Throws `not_found`.
 */
export async function setUserEnabled(deps: Deps, userId: string, enabled: boolean): Promise<User> {
  return inTransaction(deps.db, async (transaction) => {
    const before = await lockUser(transaction, userId);
    if (enabled && !before.enabled) await deleteSessionsOf(transaction, userId);
    return updateUser(transaction, userId, { enabled });
  });
}

/** Holds back new sessions of this user until the transaction ends. Throws `not_found`. */
export async function lockUser(db: Queryable, userId: string): Promise<User> {
  // `for update`, not `for no key update`: only the former conflicts with the foreign-key lock of an inserted session.
  const row = await db.selectFrom('users').selectAll().where('id', '=', userId).forUpdate().executeTakeFirst();
  if (row === undefined) throw userNotFound();
  return toUser(row);
}

async function updateUser(
  db: Queryable,
  userId: string,
  changes: Partial<Pick<Selectable<UsersTable>, 'name' | 'enabled' | 'must_change_password'>>,
): Promise<User> {
  const row = await db
    .updateTable('users')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', userId)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw userNotFound();
  return toUser(row);
}

function userNotFound(): ApiError {
  return new ApiError('not_found', 'User not found');
}
