import { ApiError } from '@homeport/contracts/errors';
import type { Person } from '@homeport/contracts/projects';
import { type Selectable, sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { SharesTable } from '../db/tables/sharing.ts';

/** The readers of shares with the audience `people`. Only this file writes the table `share_people`. */

/** The readers after a change of the audience. Throws `invalid_request` and `not_found`. */
export async function changePeople(
  trx: Queryable,
  row: Pick<Selectable<SharesTable>, 'id' | 'audience'>,
  given: readonly string[] | undefined,
): Promise<Person[]> {
  if (row.audience !== 'people') {
    if (given !== undefined) throw invalid('Only for the audience people');
    await trx.deleteFrom('share_people').where('share_id', '=', row.id).execute();
    return [];
  }
  const present = (await readPeople(trx, [row.id])).get(row.id) ?? [];
  if (given === undefined && present.length > 0) return present;
  if (given === undefined || given.length === 0) throw invalid('Needed for the audience people');
  await trx.deleteFrom('share_people').where('share_id', '=', row.id).execute();
  return storePeople(trx, row.id, given);
}

/** Throws `not_found` for an account that does not exist. */
export async function storePeople(trx: Queryable, shareId: string, given: readonly string[]): Promise<Person[]> {
  const ids = [...new Set(given)];
  const { numAffectedRows } = await sql`
    insert into share_people (share_id, user_id)
    select ${shareId}, u.id from users u where u.id = any(${ids}) and u.deleted_at is null`.execute(trx);
  if (numAffectedRows !== BigInt(ids.length)) throw new ApiError('not_found', 'User not found');
  return (await readPeople(trx, [shareId])).get(shareId) ?? [];
}

/** By share, by name. */
export async function readPeople(db: Queryable, shareIds: readonly string[]): Promise<Map<string, Person[]>> {
  if (shareIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('share_people as p')
    .innerJoin('users as u', 'u.id', 'p.user_id')
    .select(['p.share_id', 'u.id', 'u.name', 'u.email'])
    .where('p.share_id', 'in', shareIds)
    .orderBy(sql`lower(u.name)`)
    .orderBy('u.id')
    .execute();
  const groups = Map.groupBy(rows, (row) => row.share_id);
  return new Map([...groups].map(([id, people]) => [id, people.map(({ share_id: _, ...person }) => person)]));
}

function invalid(message: string): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path: 'userIds', message }] });
}
