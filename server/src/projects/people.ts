import type { User } from '@homeport/contracts/fields';
import type { Person } from '@homeport/contracts/projects';
import { comparableEmail } from '@homeport/contracts/text/email';
import { sql } from 'kysely';
import type { Database } from '../db/pool.ts';
import { readSettings } from '../settings/settings.ts';

const peopleMax = 20;

/**
 * People whose name or e-mail address contains `q`, by name, without the caller. Everyone finds members of their
 * projects, and anyone by the complete address; other accounts are found by administrators, and by everyone where the
 * installation allows it.
 */
export async function findPeople(
  { db }: { db: Pick<Database, 'kysely'> },
  caller: Pick<User, 'id' | 'role'>,
  q: string,
): Promise<{ people: Person[]; everyone: boolean }> {
  const everyone = caller.role === 'admin' || (await readSettings(db.kysely)).peopleSearch === 'everyone';
  const { rows } = await sql<Person>`
    select u.id, u.name, u.email from users u
    where u.id <> ${caller.id} and u.enabled and u.deleted_at is null
      and (u.email = ${comparableEmail(q)}
        or (position(lower(${q}) in lower(u.name)) > 0 or position(lower(${q}) in lower(u.email)) > 0)
          and (${everyone}::boolean or exists (
            select from project_members own join project_members m on m.project_id = own.project_id
            where own.user_id = ${caller.id} and m.user_id = u.id)))
    order by lower(u.name), u.id limit ${peopleMax}`.execute(db.kysely);
  return { people: rows, everyone };
}
