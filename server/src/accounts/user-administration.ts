import type { Personalization } from '@homeport/contracts/accounts/accounts';
import type { ManagedUser, userBody, userPatchBody } from '@homeport/contracts/admin';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { type Selectable, sql } from 'kysely';
import type { z } from 'zod';
import { type AuditSource, changedFields, recordEvent } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
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
type Patch = z.output<typeof userPatchBody>;
type BulkInput = Extract<Patch, { all: true }>;
type ManyInput = Extract<Patch, { ids: string[] }>;
type UserPatch = Exclude<Patch, { all: true } | { ids: string[] }>;
type Administrator = { id: string; sessionId: string };

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

/**
 * Changes several accounts in one transaction, each with an event of its own. Returns their ids. Throws `not_found`,
 * `last_admin`, and `invalid_request` for disabling the administrator's own account.
 */
export async function administerSeveral(
  deps: Deps,
  administrator: Administrator,
  { ids, ...changes }: ManyInput,
  by: AuditSource,
): Promise<string[]> {
  assertSwitches(deps, changes);
  if (changes.enabled === false && ids.includes(administrator.id)) {
    const message = 'Your own account cannot be among several that are disabled';
    throw new ApiError('invalid_request', message, { details: [{ path: 'ids', message }] });
  }
  // Always in the same order: two administrators who change the same accounts wait for each other.
  const different = [...new Set(ids)].toSorted();
  return inTransaction(deps.db, async (transaction) => {
    for (const id of different) {
      await changeUser(transaction, id, changes);
      const details = { changed: changedFields(changes), ...definedOf(changes) };
      await recordEvent(transaction, by, { action: 'user.updated', targetType: 'user', targetId: id, details });
    }
    return different;
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
  has_password: boolean;
  last_seen_at: Date | null;
};

/** Accounts with what only administrators see of them. */
export function managedUsers(db: Queryable) {
  return db
    .selectFrom('users')
    .selectAll('users')
    .select([
      sql<boolean>`exists (select from credentials c
        where c.user_id = users.id and c.provider_id = 'credential' and c.password is not null)`.as('has_password'),
      sql<Date | null>`(select max(s.updated_at) from sessions s where s.user_id = users.id)`.as('last_seen_at'),
    ]);
}

type PeopleCounts = { total: number; active: number; disabled: number; withoutModel: number; invited: number };

/** Numbers of accounts and open invitations; `hasModel` is SQL about the user `u`. */
export async function countPeople(db: Queryable, hasModel: string, now: number): Promise<PeopleCounts> {
  const [at, since] = [new Date(now), new Date(now - limits.activeDays * 86_400_000)];
  const { rows } = await sql<PeopleCounts>`
    select count(*)::int as total, count(*) filter (where not u.enabled)::int as disabled,
      count(*) filter (where u.id in (select s.user_id from sessions s where s.updated_at >= ${since}))::int as active,
      count(*) filter (where u.enabled and not ${sql.raw(hasModel)})::int as "withoutModel",
      (select count(*)::int from invitations i
        where i.accepted_at is null and i.revoked_at is null and i.expires_at > ${at}) as invited
    from users u where u.deleted_at is null`.execute(db);
  const [counts] = rows;
  if (counts === undefined) throw new Error('counting people returned no row');
  return counts;
}

async function readUser(db: Queryable, id: string): Promise<ManagedUser> {
  return managedUser(await managedUsers(db).where('users.id', '=', id).executeTakeFirstOrThrow());
}

export function managedUser(row: ManagedRow): ManagedUser {
  return {
    ...toUser(row),
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
    hasPassword: row.has_password,
  };
}
