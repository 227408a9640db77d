import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';

/** The only writer of password credentials: the rows of the provider `credential`. */

const passwordProvider = 'credential';

/** Gives a user their first password; `hash` comes from passwords.ts. */
export async function insertPassword(db: Queryable, userId: string, hash: string): Promise<void> {
  await db
    .insertInto('credentials')
    .values({
      id: randomUUIDv7(),
      user_id: userId,
      account_id: userId,
      provider_id: passwordProvider,
      password: hash,
    })
    .execute();
}

/** The stored hash, or undefined for an account without a password. */
export async function findPasswordHash(db: Queryable, userId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('credentials')
    .select('password')
    .where('user_id', '=', userId)
    .where('provider_id', '=', passwordProvider)
    .executeTakeFirst();
  return row?.password ?? undefined;
}

/** The same by e-mail address, with the user's id; also undefined for an unknown address. */
export async function findPasswordByEmail(
  db: Queryable,
  email: string,
): Promise<{ userId: string; hash: string | undefined } | undefined> {
  const row = await db
    .selectFrom('credentials')
    .innerJoin('users', 'users.id', 'credentials.user_id')
    .select(['credentials.password', 'users.id'])
    .where('users.email', '=', email)
    .where('credentials.provider_id', '=', passwordProvider)
    .executeTakeFirst();
  return row === undefined ? undefined : { userId: row.id, hash: row.password ?? undefined };
}

/** Replaces the password; false when the account has none. */
export async function updatePassword(db: Queryable, userId: string, hash: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('credentials')
    .set({ password: hash, updated_at: sql`now()` })
    .where('user_id', '=', userId)
    .where('provider_id', '=', passwordProvider)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Sets a user's password, whether or not there was one. */
export async function setPassword(db: Queryable, userId: string, hash: string): Promise<void> {
  if (!(await updatePassword(db, userId, hash))) await insertPassword(db, userId, hash);
}

/** The stored hashes of several users by e-mail address; null for a user without a password. */
export async function findPasswordHashes(
  db: Queryable,
  emails: readonly string[],
): Promise<Map<string, string | null>> {
  if (emails.length === 0) return new Map();
  const rows = await db
    .selectFrom('users')
    .leftJoin('credentials', (join) =>
      join.onRef('credentials.user_id', '=', 'users.id').on('credentials.provider_id', '=', passwordProvider),
    )
    .select(['users.email', 'credentials.password'])
    .where('users.email', 'in', emails)
    .execute();
  return new Map(rows.map(({ email, password }) => [email, password]));
}

/** Sets the passwords of several users, whether or not they had one. */
export async function setPasswords(
  db: Queryable,
  passwords: readonly { userId: string; hash: string }[],
): Promise<void> {
  if (passwords.length === 0) return;
  const rows = passwords.map(({ userId, hash }) => ({ id: randomUUIDv7(), userId, hash }));
  await sql`
    with given as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as x (id text, "userId" text, hash text)
    ), changed as (
      update credentials c set password = g.hash, updated_at = now() from given g
      where c.user_id = g."userId" and c.provider_id = ${passwordProvider} returning c.user_id
    )
    insert into credentials (id, user_id, account_id, provider_id, password)
    select g.id, g."userId", g."userId", ${passwordProvider}, g.hash from given g
    where g."userId" not in (select user_id from changed)`.execute(db);
}
