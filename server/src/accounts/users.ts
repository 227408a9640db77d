import { randomUUIDv7 } from 'node:crypto';
import type { AboutMe, Personalization } from '@homeport/contracts/accounts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import type { Role, User } from '@homeport/contracts/fields';
import { comparableEmail } from '@homeport/contracts/text/email';
import { type Selectable, sql } from 'kysely';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { UsersTable } from '../db/tables/people.ts';
import { deleteSessionsOf } from './sessions.ts';

/** The only writer of `users`. */

export type NewUser = {
  name: string;
  email: string;
  role: Role;
  mustChangePassword?: boolean;
  providerSettingsEnabled?: boolean;
  mcpSettingsEnabled?: boolean;
  /** An identity provider vouches for the address. */
  emailVerified?: boolean;
};

/** A change of a person's own layer of the prompt context; of `aboutMe` only the given members. */
export type PersonalizationChange = {
  instructions?: string | null;
  aboutMe?: { [Name in keyof AboutMe]?: AboutMe[Name] } | undefined;
};

/** Facts that models get about a person who has chosen none. */
const noFacts: AboutMe = { name: false, language: null, timeZone: null };

type Deps = { db: Pick<Database, 'kysely'> };

/** The columns that the API shows. */
export type UserRow = Pick<
  Selectable<UsersTable>,
  | 'id'
  | 'name'
  | 'email'
  | 'role'
  | 'enabled'
  | 'must_change_password'
  | 'provider_settings_enabled'
  | 'mcp_settings_enabled'
>;

/** A row as the API shows one. */
export function toUser(row: UserRow): User {
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

/** Adds a user. Throws `email_taken`; in a transaction, only a rollback can follow. */
export async function insertUser(db: Queryable, user: NewUser): Promise<User> {
  const row = await db
    .insertInto('users')
    .values({
      id: randomUUIDv7(),
      name: user.name,
      email: comparableEmail(user.email),
      email_verified: user.emailVerified,
      role: user.role,
      must_change_password: user.mustChangePassword,
      provider_settings_enabled: user.providerSettingsEnabled,
      mcp_settings_enabled: user.mcpSettingsEnabled,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw emailTaken();
  return toUser(row);
}

/** Renames a user. Throws `not_found`. */
export async function renameUser(db: Queryable, userId: string, name: string): Promise<User> {
  return updateUser(db, userId, { name });
}

/** The name and the address of an account; undefined if it was deleted. */
export function readNameAndEmail(db: Queryable, userId: string): Promise<{ name: string; email: string } | undefined> {
  return db.selectFrom('users').select(['name', 'email']).where('id', '=', userId).executeTakeFirst();
}

/** Reads a person's own layer of the prompt context, which only they can see. Throws `not_found`. */
export async function readPersonalization(db: Queryable, userId: string): Promise<Personalization> {
  const row = await db
    .selectFrom('users')
    .select(['instructions', 'about_me'])
    .where('id', '=', userId)
    .executeTakeFirst();
  if (row === undefined) throw userNotFound();
  return toPersonalization(row);
}

/** Changes a person's own layer of the prompt context. Throws `not_found`. */
export async function updatePersonalization(
  db: Queryable,
  userId: string,
  change: PersonalizationChange,
): Promise<Personalization> {
  const { instructions, aboutMe } = change;
  const row = await db
    .updateTable('users')
    .set({ instructions: instructions === undefined ? undefined : instructions || null, updated_at: sql`now()` })
    .$if(aboutMe !== undefined, (query) =>
      query.set({ about_me: sql`coalesce(about_me, '{}') || ${JSON.stringify(aboutMe)}::jsonb` }),
    )
    .where('id', '=', userId)
    .returning(['instructions', 'about_me'])
    .executeTakeFirst();
  if (row === undefined) throw userNotFound();
  return toPersonalization(row);
}

function toPersonalization(row: Pick<Selectable<UsersTable>, 'instructions' | 'about_me'>): Personalization {
  return { instructions: row.instructions, aboutMe: { ...noFacts, ...row.about_me } };
}

/** Changes name and address as an identity provider has them. Throws `not_found`, and `email_taken`, which only a rollback can follow. */
export async function changeProfile(
  transaction: Queryable,
  userId: string,
  { name, email }: { name?: string; email?: string },
): Promise<void> {
  await updateUser(transaction, userId, { name, email, email_verified: email === undefined ? undefined : true });
}

/** Notes that an identity provider vouches for the user's address. */
export async function markEmailVerified(db: Queryable, userId: string): Promise<void> {
  await updateUser(db, userId, { email_verified: true });
}

/** Sets whether the user must choose a new password before anything else. Throws `not_found`. */
export async function setMustChangePassword(db: Queryable, userId: string, mustChange: boolean): Promise<User> {
  return updateUser(db, userId, { must_change_password: mustChange });
}

/** Fields of a user that an administrator can change. */
export type UserChanges = {
  name?: string;
  email?: string;
  role?: Role;
  enabled?: boolean;
  mustChangePassword?: boolean;
  providerSettingsEnabled?: boolean;
  mcpSettingsEnabled?: boolean;
};

/**
 * Changes a user. While an account is disabled its sessions stay, so that they answer `account_disabled`; enabling it
 * removes them, so that they answer 401 (contract.md section 3). Throws `not_found`, and `last_admin` if no enabled
 * administrator would be left; only a rollback can follow that.
 */
export async function changeUser(transaction: Queryable, userId: string, changes: UserChanges): Promise<User> {
  // The first lock of all: two administrators who demote each other wait for each other here.
  if (changes.enabled === false || changes.role === 'user') await lockAdministrators(transaction);
  const before = await lockUser(transaction, userId);
  await assertNotDeleted(transaction, userId);
  if (changes.enabled === true && !before.enabled) await deleteSessionsOf(transaction, userId);
  const email = changes.email === before.email ? undefined : changes.email;
  const user = await updateUser(transaction, userId, {
    name: changes.name,
    email,
    // An administrator's word is no verification.
    email_verified: email === undefined ? undefined : false,
    role: changes.role,
    enabled: changes.enabled,
    must_change_password: changes.mustChangePassword,
    provider_settings_enabled: changes.providerSettingsEnabled,
    mcp_settings_enabled: changes.mcpSettingsEnabled,
  });
  const wasAdministrator = before.role === 'admin' && before.enabled;
  const isAdministrator = user.role === 'admin' && user.enabled;
  if (wasAdministrator && !isAdministrator) await assertAnAdministrator(transaction);
  return user;
}

async function assertNotDeleted(db: Queryable, userId: string): Promise<void> {
  const query = db.selectFrom('users').select('id').where('id', '=', userId).where('deleted_at', 'is', null);
  if ((await query.executeTakeFirst()) === undefined) throw userNotFound();
}

/** Disables or enables an account; see `changeUser`. */
export async function setUserEnabled(deps: Deps, userId: string, enabled: boolean): Promise<User> {
  return inTransaction(deps.db, (transaction) => changeUser(transaction, userId, { enabled }));
}

/** Sets switches of all existing accounts that are not administrators; returns how many there are. */
export async function setSwitches(
  db: Queryable,
  switches: Pick<UserChanges, 'providerSettingsEnabled' | 'mcpSettingsEnabled'>,
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({
      provider_settings_enabled: switches.providerSettingsEnabled,
      mcp_settings_enabled: switches.mcpSettingsEnabled,
      updated_at: sql`now()`,
    })
    .where('role', '!=', 'admin')
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Throws `not_found` if there is no such user. */
export async function assertUser(deps: Deps, userId: string): Promise<void> {
  const row = await deps.db.kysely.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst();
  if (row === undefined) throw userNotFound();
}

/** True when an account has this e-mail address. */
export async function isEmailTaken(db: Queryable, email: string): Promise<boolean> {
  const row = await db.selectFrom('users').select('id').where('email', '=', comparableEmail(email)).executeTakeFirst();
  return row !== undefined;
}

export function emailTaken(): ApiError {
  return new ApiError('email_taken', 'Another account already uses this e-mail address');
}

/** The first lock of all, taken by everything that may remove an administrator. */
export async function lockAdministrators(transaction: Queryable): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('administrators', 0))`.execute(transaction);
}

/** Throws `last_admin` if no enabled administrator is left. */
export async function assertAnAdministrator(transaction: Queryable): Promise<void> {
  const row = await transaction
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('enabled', '=', true)
    .limit(1)
    .executeTakeFirst();
  if (row !== undefined) return;
  throw new ApiError('last_admin', 'This is the last enabled administrator. Make someone else an administrator first.');
}

/** Blocks new sessions of this user until the transaction ends. Throws `not_found`. */
export async function lockUser(db: Queryable, userId: string): Promise<User> {
  // `for update`, not `for no key update`: only the former conflicts with the foreign-key lock of an inserted session.
  const row = await db.selectFrom('users').selectAll().where('id', '=', userId).forUpdate().executeTakeFirst();
  if (row === undefined) throw userNotFound();
  return toUser(row);
}

/**
 * The user, who cannot be disabled or get another password until the transaction ends: a new session depends on both.
 */
export async function holdUser(transaction: Queryable, userId: string): Promise<Selectable<UsersTable> | undefined> {
  return transaction.selectFrom('users').selectAll().where('id', '=', userId).forKeyShare().executeTakeFirst();
}

/**
 * Throws `account_disabled` if the account was disabled since its request began; it cannot change until the transaction
 * ends.
 */
export async function assertStillEnabled(transaction: Queryable, userId: string): Promise<void> {
  const user = await holdUser(transaction, userId);
  if (user?.enabled !== true) throw new ApiError('account_disabled', 'This account is disabled');
}

type RowChanges = Partial<{
  [Column in
    | 'name'
    | 'email'
    | 'email_verified'
    | 'role'
    | 'enabled'
    | 'must_change_password'
    | 'provider_settings_enabled'
    | 'mcp_settings_enabled']: Selectable<UsersTable>[Column] | undefined;
}>;

async function updateUser(db: Queryable, userId: string, changes: RowChanges): Promise<User> {
  const row = await db
    .updateTable('users')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', userId)
    .returningAll()
    .executeTakeFirst()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? emailTaken() : error;
    });
  if (row === undefined) throw userNotFound();
  return toUser(row);
}

/** Deletes the row, and with it everything that refers to it. The caller has disabled the account. */
export async function removeUser(transaction: Queryable, userId: string): Promise<void> {
  const { numDeletedRows } = await transaction.deleteFrom('users').where('id', '=', userId).executeTakeFirst();
  if (numDeletedRows === 0n) throw userNotFound();
}

/** Keeps the row for the data that refers to it: without address and password, and in no list. */
export async function retireUser(transaction: Queryable, userId: string): Promise<void> {
  await transaction.deleteFrom('credentials').where('user_id', '=', userId).execute();
  await transaction
    .updateTable('users')
    .set({ email: `deleted-${userId}@deleted.invalid`, role: 'user', image: null, updated_at: sql`now()` })
    .set({ deleted_at: sql`coalesce(deleted_at, now())` })
    .where('id', '=', userId)
    .execute();
}

/** Another administrator, to whom what is shared with everyone can be given. */
export async function findOtherAdministrator(db: Queryable, userId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('enabled', '=', true)
    .where('id', '!=', userId)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

function userNotFound(): ApiError {
  return new ApiError('not_found', 'User not found');
}

/** A user as a batch writes one. */
export type UserRecord = Omit<User, 'mustChangePassword'> & PromptContext;

/** The user's personalization, as stored. */
type PromptContext = { instructions: string | null; aboutMe: Partial<AboutMe> | null };
export type StoredUser = User & PromptContext;

function toStored(row: Selectable<UsersTable>): StoredUser {
  return { ...toUser(row), instructions: row.instructions, aboutMe: row.about_me };
}

/** The users of these addresses. */
export async function findUsersByEmail(db: Queryable, emails: readonly string[]): Promise<StoredUser[]> {
  if (emails.length === 0) return [];
  return (await db.selectFrom('users').selectAll().where('email', 'in', emails).execute()).map(toStored);
}

/** The same, locked: until the transaction ends no other transaction can change them, but the users can sign in. */
export async function lockUsersByEmail(transaction: Queryable, emails: readonly string[]): Promise<StoredUser[]> {
  if (emails.length === 0) return [];
  const query = transaction.selectFrom('users').selectAll().where('email', 'in', emails).orderBy('id');
  return (await query.forNoKeyUpdate().execute()).map(toStored);
}

/** Adds users in the order given. Returns how many: an address in use leaves its user out. */
export async function insertUsers(transaction: Queryable, users: readonly UserRecord[]): Promise<number> {
  if (users.length === 0) return 0;
  const { numAffectedRows } = await sql`
    insert into users (id, name, email, role, enabled, provider_settings_enabled, mcp_settings_enabled, instructions, about_me)
    select x.id, x.name, x.email, x.role, x.enabled, x."providerSettingsEnabled", x."mcpSettingsEnabled", x.instructions, x."aboutMe"
    from ${userRecords(users)} on conflict (email) do nothing`.execute(transaction);
  return Number(numAffectedRows ?? 0n);
}

/** Writes users that `lockUsersByEmail` found, e-mail address and mustChangePassword as they are. */
export async function updateUsers(transaction: Queryable, users: readonly UserRecord[]): Promise<void> {
  if (users.length === 0) return;
  await sql`
    update users u set name = x.name, role = x.role, enabled = x.enabled, updated_at = now(),
      provider_settings_enabled = x."providerSettingsEnabled", mcp_settings_enabled = x."mcpSettingsEnabled",
      instructions = x.instructions, about_me = x."aboutMe"
    from ${userRecords(users)} where u.id = x.id`.execute(transaction);
}

function userRecords(users: readonly UserRecord[]) {
  return sql`json_to_recordset(${JSON.stringify(users)}::json) as x (id text, name text, email text, role text,
    enabled boolean, "providerSettingsEnabled" boolean, "mcpSettingsEnabled" boolean, instructions text, "aboutMe" jsonb)`;
}

/** The one unique column that a change can touch is the address. */
function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}
