import { ApiError } from '@homeport/contracts/errors';
import { clientIdPattern } from '@homeport/contracts/limits';

/** A place in a list ordered by time and id. Microseconds since 1970, so that no two times of PostgreSQL fall together. */
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
