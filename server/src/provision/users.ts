import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { secretPlaceholder } from '@homeport/contracts/provision/manifest';
import type { Transaction } from 'kysely';
import { findPasswordHashes, setPasswords } from '../accounts/credentials.ts';
import { hashPassword } from '../accounts/passwords.ts';
import { deleteSessionsOfUsers } from '../accounts/sessions.ts';
import {
  findUsersByEmail,
  insertUsers,
  lockUsersByEmail,
  type StoredUser,
  type UserRecord,
  updateUsers,
} from '../accounts/users.ts';
import type { Tables } from '../db/tables/tables.ts';
import type { AccountEntry } from './manifest/manifest-reader.ts';
import type { PreparedPasswords } from './passwords.ts';
import { differences, type Report } from './report.ts';

export type UsersContext = {
  report: Report;
  passwords: PreparedPasswords;
  /** The session of the user who applies the manifest: it survives a change of their password. */
  sessionId: string;
};

/** Follow-up work for other modules once the users are committed. */
export type UsersOutcome = {
  disabledIds: string[];
  /** Path of the first entry that removes an enabled administrator. */
  lostAdministrator: string | undefined;
};

/** Upserts accounts by e-mail address. Omitted fields stay as they are. */
export async function applyUsers(
  transaction: Transaction<Tables>,
  entries: readonly AccountEntry[],
  context: UsersContext,
): Promise<UsersOutcome> {
  const emails = entries.map((entry) => entry.email);
  const stored = await readAndLock(transaction, entries);
  const hashes = await findPasswordHashes(transaction, emails);
  const work: Work = { inserted: [], updated: [], passwords: [], signedOut: [], disabledIds: [], lost: undefined };
  for (const entry of entries) {
    const before = stored.get(entry.email);
    const hash = await passwordToStore(entry, hashes.get(entry.email) ?? null, context.passwords);
    if (before === undefined) addUser(work, entry, hash, context.report);
    else
      changeUser(
        work,
        before,
        entry,
        { hash, hasPassword: (hashes.get(entry.email) ?? null) !== null },
        context.report,
      );
  }
  if ((await insertUsers(transaction, work.inserted)) < work.inserted.length) {
    throw new ApiError('email_taken', 'An account was created at the same time. Apply the manifest again.', {
      details: [{ path: 'users', message: 'One of these addresses has been taken in the meantime' }],
    });
  }
  await updateUsers(transaction, work.updated);
  await setPasswords(transaction, work.passwords);
  await deleteSessionsOfUsers(transaction, work.signedOut, context.sessionId);
  return { disabledIds: work.disabledIds, lostAdministrator: work.lost };
}

/**
 * The current users of these entries. Users that will change are locked and then read again; an unchanged user need
 * not wait for the transaction.
 */
async function readAndLock(
  transaction: Transaction<Tables>,
  entries: readonly AccountEntry[],
): Promise<Map<string, StoredUser>> {
  const emails = entries.map((entry) => entry.email);
  const stored = new Map((await findUsersByEmail(transaction, emails)).map((user) => [user.email, user]));
  const changing = entries.filter((entry) => {
    const user = stored.get(entry.email);
    return user !== undefined && differences({ ...user }, wantedOf(entry, user)).length > 0;
  });
  const locked = await lockUsersByEmail(
    transaction,
    changing.map((entry) => entry.email),
  );
  for (const user of locked) stored.set(user.email, user);
  return stored;
}

type Work = {
  inserted: UserRecord[];
  updated: UserRecord[];
  passwords: { userId: string; hash: string }[];
  signedOut: string[];
  disabledIds: string[];
  lost: string | undefined;
};

function addUser(work: Work, entry: AccountEntry, hash: string | undefined, report: Report): void {
  const { index, email, name, role = 'user', enabled = true } = entry;
  const path = `users.${index}`;
  const { providerSettingsEnabled = true, mcpSettingsEnabled = true } = entry;
  const id = randomUUIDv7();
  const personalization = { instructions: entry.instructions || null, aboutMe: aboutMeOf(entry, null) };
  work.inserted.push({
    id,
    name,
    email,
    role,
    enabled,
    providerSettingsEnabled,
    mcpSettingsEnabled,
    ...personalization,
  });
  if (hash !== undefined) work.passwords.push({ userId: id, hash });
  if (entry.password === secretPlaceholder) report.warn(`${path}.password`, withoutPassword);
  const facts = [role, ...(enabled ? [] : ['disabled']), ...(hash === undefined ? ['without a password'] : [])];
  report.created('users', path, `user ${email} (${facts.join(', ')})`);
}

const withoutPassword =
  'this is a placeholder and no password is stored: this account can only sign in by OIDC until it gets one';

function changeUser(
  work: Work,
  before: StoredUser,
  entry: AccountEntry,
  { hash, hasPassword }: { hash: string | undefined; hasPassword: boolean },
  report: Report,
): void {
  const { index, email, password } = entry;
  const wanted = wantedOf(entry, before);
  const path = `users.${index}`;
  if (password === secretPlaceholder && !hasPassword) report.warn(`${path}.password`, withoutPassword);
  const changes = differences({ ...before }, wanted);
  if (changes.length > 0) work.updated.push({ ...before, ...defined(wanted) });
  if (hash !== undefined) work.passwords.push({ userId: before.id, hash });
  const passwordChange = hash === undefined ? [] : [hasPassword ? 'password changed' : 'password set'];
  report.compared('users', path, `user ${email}`, [...changes, ...passwordChange]);

  const { role = before.role, enabled = before.enabled } = wanted;
  if ((hash !== undefined && hasPassword) || (enabled && !before.enabled)) work.signedOut.push(before.id);
  if (!enabled && before.enabled) work.disabledIds.push(before.id);
  const wasAdministrator = before.role === 'admin' && before.enabled;
  if (wasAdministrator && !(role === 'admin' && enabled)) work.lost ??= `${path}.${enabled ? 'role' : 'enabled'}`;
}

/** The columns that an entry sets for a user; omitted ones are undefined. */
function wantedOf({ email: _, index: __, password: ___, ...wanted }: AccountEntry, before: StoredUser) {
  const { instructions, aboutMe } = wanted;
  return {
    ...wanted,
    instructions: instructions === undefined ? undefined : instructions || null,
    aboutMe: aboutMe === undefined ? undefined : aboutMeOf({ aboutMe }, before.aboutMe),
  };
}

function aboutMeOf({ aboutMe }: Pick<AccountEntry, 'aboutMe'>, before: UserRecord['aboutMe']): UserRecord['aboutMe'] {
  return aboutMe === undefined ? before : { ...before, ...defined(aboutMe) };
}

function defined<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}

/** The hash to store, undefined to keep the stored one, which a user can have changed since it was prepared. */
async function passwordToStore(
  entry: AccountEntry,
  stored: string | null,
  passwords: PreparedPasswords,
): Promise<string | undefined> {
  const prepared = passwords.get(entry.email);
  if (prepared === undefined || entry.password === undefined) return undefined;
  if (prepared.hash !== undefined || prepared.stored === stored) return prepared.hash;
  return hashPassword(entry.password);
}
