import { type RawBuilder, sql } from 'kysely';

/**
 * A condition on a row that is found by its id, written so that no index serves it. While a table is young, PostgreSQL
 * would otherwise read all of a person's conversations to find one, and all running responses to end one.
 */
export function onFoundRow(condition: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${condition}) is true`;
}
