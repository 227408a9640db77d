import { ApiError } from '@homeport/contracts/errors';
import { clientIdPattern } from '@homeport/contracts/limits';
import { type RawBuilder, sql } from 'kysely';

/** A position in a list ordered by time and id. Microseconds since 1970, so that no two PostgreSQL times are equal. */
export type Position = { micros: number; id: string };

/** Opaque to clients. */
export function encodeCursor({ micros, id }: Position): string {
  return Buffer.from(`${micros} ${id}`).toString('base64url');
}

/** Throws `invalid_request` for anything that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): Position {
  const [, micros = '', id = ''] = /^(\d{1,16}) (.+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const position = { micros: Number(micros), id };
  const isSound =
    Number.isSafeInteger(position.micros) && clientIdPattern.test(id) && encodeCursor(position) === cursor;
  if (isSound) return position;
  throw new ApiError('invalid_request', 'The request is not valid. cursor: not a cursor of this list', {
    details: [{ path: 'cursor', message: 'Not a cursor of this list' }],
  });
}

/** SQL: a time of PostgreSQL as the microseconds of a `Position`. */
export function microsOf(time: string): string {
  return `(extract(epoch from ${time}) * 1000000)::int8`;
}

/**
 * SQL condition for the rows after a position in a list with the newest first; `micros` and `id` are the placeholders
 * of its values.
 */
export function afterText(time: string, key: string, micros: string, id: string): string {
  return `(${time}, ${key}) < (timestamptz 'epoch' + ${micros} * interval '1 microsecond', ${id})`;
}

/** Like `afterText`, for the builder and for `sql`; without a cursor, everything matches. */
export function afterCursor(time: string, key: string, cursor: string | undefined): RawBuilder<boolean> {
  if (cursor === undefined) return sql<boolean>`true`;
  const { micros, id } = decodeCursor(cursor);
  return sql<boolean>`(${sql.ref(time)}, ${sql.ref(key)}) < (timestamptz 'epoch' + ${micros} * interval '1 microsecond', ${id})`;
}

/** The first `limit` rows, of which the caller fetched one more, and the cursor of the next page. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): { shown: Row[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { shown, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}
