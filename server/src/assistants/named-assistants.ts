import { type RawBuilder, sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { usableIds } from './sharing.ts';

/** Assistants by their names, for clients that choose one as a model. */
export type NamedAssistant = { id: string; name: string; ownerName: string; createdAt: Date };

const listedMax = 200;

/** Each name once, in any case: the reader's own before the project's, and that before everyone's. */
export async function listNamedAssistants(db: Queryable, userId: string): Promise<NamedAssistant[]> {
  return find(db, userId, sql`true`, listedMax);
}

export async function findNamedAssistant(
  db: Queryable,
  userId: string,
  name: string,
): Promise<NamedAssistant | undefined> {
  const [found] = await find(db, userId, sql`lower(v.name) = lower(${name})`, 1);
  return found;
}

async function find(
  db: Queryable,
  userId: string,
  condition: RawBuilder<unknown>,
  max: number,
): Promise<NamedAssistant[]> {
  const { rows } = await sql<NamedAssistant>`
    select distinct on (lower(v.name)) a.id, v.name, u.name as "ownerName", v.created_at as "createdAt"
    from assistants a join assistant_versions v on v.assistant_id = a.id and v.version = a.version
    join users u on u.id = a.owner_id
    where a.id in (${usableIds('assistants', userId)}) and ${condition}
    order by lower(v.name), case a.audience when 'me' then 1 when 'project' then 2 else 3 end, a.id limit ${max}`.execute(
    db,
  );
  return rows;
}
