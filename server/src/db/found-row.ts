import { type RawBuilder, sql } from 'kysely';

/**
 * A condition on a row that is found by its id. PostgreSQL finds no index for it, so it cannot choose one over the id's:
 * while a table is young it reads all conversations of a person to find one, and all responses that run to end one.
 */
export function onFoundRow(condition: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${condition}) is true`;
}
