import type { Model } from '@homeport/contracts/catalogue/catalogue';
import type { Lesson } from '@homeport/contracts/catalogue/model-facts';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';

/**
 * Lessons about models, learned from refusals of their servers. A lesson belongs to the kind, the base URL and the
 * provider's model id that were in use, so a changed address starts without any.
 */

const lessonsMax = 20;
const valueMax = 100;

/** SQL of the address that a lesson of model `m` of provider `p` must have. */
export const addressSql = `p.kind || ' ' || p.base_url || ' ' || m.provider_model_id`;

type Row = { model_id: string; about: Lesson['about']; value: string; learned_at: Date };
type NewLesson = Pick<Lesson, 'about' | 'value'>;

/** The lessons of models, oldest first, by the model's id. */
async function readLessons(db: Queryable, modelIds: readonly string[]): Promise<Map<string, Lesson[]>> {
  if (modelIds.length === 0) return new Map();
  const { rows } = await sql<Row>`
    select l.model_id, l.about, l.value, l.learned_at from model_lessons l join models m on m.id = l.model_id
      join providers p on p.id = m.provider_id
    where l.model_id = any(${modelIds}) and l.address = ${sql.raw(addressSql)} order by l.learned_at, l.about`.execute(
    db,
  );
  const byModel = Map.groupBy(rows, (row) => row.model_id);
  return new Map([...byModel].map(([id, own]) => [id, own.slice(0, lessonsMax).map(toLesson)]));
}

function toLesson({ about, value, learned_at }: Row): Lesson {
  return { about, value, at: learned_at.toISOString() };
}

/** The same models with their lessons. */
export async function withLessons(db: Queryable, models: readonly Model[]): Promise<Model[]> {
  const lessons = await readLessons(
    db,
    models.map(({ id }) => id),
  );
  return models.map((model) => ({ ...model, lessons: lessons.get(model.id) ?? [] }));
}

/** Stores what is new. A number replaces the earlier one. */
export async function storeLessons(db: Queryable, modelId: string, lessons: readonly NewLesson[]): Promise<void> {
  const given = lessons.slice(0, lessonsMax).map(({ about, value }) => ({ about, value: value.slice(0, valueMax) }));
  await sql`
    with given as (
      select about, value from json_to_recordset(${JSON.stringify(given)}::json) as g (about text, value text)
    ), place as (
      select m.id, ${sql.raw(addressSql)} as address from models m join providers p on p.id = m.provider_id
      where m.id = ${modelId}
    ), outdated as (
      delete from model_lessons l using place
      where l.model_id = place.id and (l.address <> place.address
        or (l.about in ('max_output', 'context') and exists (select from given g where g.about = l.about and g.value <> l.value)))
    )
    insert into model_lessons (model_id, address, about, value) select place.id, place.address, about, value from given, place
    on conflict (model_id, about, value) do update set address = excluded.address
      where model_lessons.address <> excluded.address`.execute(db);
}

/** Forgets the lessons of one kind. */
export async function forgetLessons(db: Queryable, modelId: string, about: Lesson['about']): Promise<void> {
  await sql`delete from model_lessons where model_id = ${modelId} and about = ${about}`.execute(db);
}
