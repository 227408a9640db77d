import type { adminEndpoints, ManagedUser } from '@homeport/contracts/admin';
import { ApiError } from '@homeport/contracts/errors';
import { clientIdPattern, limits } from '@homeport/contracts/limits';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { managedUser, managedUsers } from '../accounts/user-administration.ts';
import { hasModel } from '../catalogue/has-model.ts';
import { microsOf } from '../db/keyset.ts';
import { isStorable } from '../platform/json/json-fault.ts';
import type { Platform } from '../platform.ts';

/** The list of people for administrators: search, filters, order and pages, all in the database. */

type Needs = Pick<Platform, 'db' | 'clock' | 'config'>;
type Query = z.output<typeof adminEndpoints.getAdminUsers.query>;
type Sort = NonNullable<Query['sort']>;

const dayMs = 86_400_000;

type Order = { key: string; isTime: boolean; isDescending: boolean };

/** SQL text: the sort keys of the orders; none is null, so that positions can be compared. */
const orders: Record<Sort, Order> = {
  created: { key: 'u.created_at', isTime: true, isDescending: true },
  name: { key: 'lower(u.name)', isTime: false, isDescending: false },
  email: { key: 'u.email', isTime: false, isDescending: false },
  seen: { key: `coalesce(u.last_seen_at, timestamptz 'epoch')`, isTime: true, isDescending: true },
};

/** A position in one order: the key and the id of the last row of a page. */
const position = z.tuple([
  z.enum(['created', 'name', 'email', 'seen']),
  z.string().max(1_000).refine(isStorable),
  z.string().regex(clientIdPattern),
]);

/** One page of the people who match, and how many match in all. */
export async function listPeople(
  { db, clock, config }: Needs,
  query: Query,
): Promise<{ users: ManagedUser[]; nextCursor: string | null; total: number }> {
  const { sort = 'created', limit = limits.pageDefault } = query;
  const { key, isTime, isDescending } = orders[sort];
  const isUp = query.order === undefined ? !isDescending : query.order === 'asc';
  const direction = sql.raw(isUp ? 'asc' : 'desc');
  const people = db.kysely
    .selectFrom(managedUsers(db.kysely).where('users.deleted_at', 'is', null).as('u'))
    .where(matches(query, hasModel(config, 'u'), clock.now()));
  const [rows, counted] = await Promise.all([
    people
      .selectAll('u')
      .select(sql<string>`(${sql.raw(isTime ? microsOf(key) : key)})::text`.as('order_key'))
      .where(after(query.cursor, sort, isUp))
      .orderBy(sql`${sql.raw(key)} ${direction}`)
      .orderBy(sql`u.id ${direction}`)
      .limit(limit + 1)
      .execute(),
    people.select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow(),
  ]);
  const last = rows[limit - 1];
  const nextCursor = rows.length > limit && last !== undefined ? encode([sort, last.order_key, last.id]) : null;
  return { users: rows.slice(0, limit).map(managedUser), nextCursor, total: counted.total };
}

function matches(query: Query, hasAModel: string, now: number): RawBuilder<boolean> {
  const { q, role, enabled, seen, model } = query;
  const conditions: RawBuilder<boolean>[] = [sql<boolean>`true`];
  if (q !== undefined && q !== '') {
    const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`;
    conditions.push(sql<boolean>`(u.name ilike ${pattern} or u.email ilike ${pattern} or u.id = ${q})`);
  }
  if (role !== undefined) conditions.push(sql<boolean>`u.role = ${role}`);
  if (enabled !== undefined) conditions.push(sql<boolean>`u.enabled = ${enabled}`);
  if (seen === 'never') conditions.push(sql<boolean>`u.last_seen_at is null`);
  else if (seen !== undefined) {
    const since = new Date(now - limits.activeDays * dayMs);
    const isActive = sql<boolean>`coalesce(u.last_seen_at >= ${since}, false)`;
    conditions.push(seen === 'recently' ? isActive : sql<boolean>`not ${isActive}`);
  }
  if (model === 'none') conditions.push(sql<boolean>`not ${sql.raw(hasAModel)}`);
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}

function after(cursor: string | undefined, sort: Sort, isUp: boolean): RawBuilder<boolean> {
  if (cursor === undefined) return sql<boolean>`true`;
  const [, value, id] = decode(cursor, sort);
  const { key, isTime } = orders[sort];
  const start = isTime ? sql`timestamptz 'epoch' + ${value}::int8 * interval '1 microsecond'` : sql`${value}`;
  return sql<boolean>`(${sql.raw(key)}, u.id) ${sql.raw(isUp ? '>' : '<')} (${start}, ${id})`;
}

function encode(parts: z.output<typeof position>): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Throws `invalid_request` for a cursor of another order, or none of ours. */
function decode(cursor: string, sort: Sort): z.output<typeof position> {
  const found = position.safeParse(parsed(Buffer.from(cursor, 'base64url').toString()));
  const { isTime } = orders[sort];
  if (found.success && found.data[0] === sort && (!isTime || /^\d{1,16}$/.test(found.data[1]))) return found.data;
  throw new ApiError('invalid_request', 'The request is not valid. cursor: not a cursor of this list', {
    details: [{ path: 'cursor', message: 'Not a cursor of this list' }],
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
