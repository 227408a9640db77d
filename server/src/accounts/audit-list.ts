import type { AuditEvent } from '@homeport/contracts/admin';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import { decodeCursor, encodeCursor } from '../db/cursor.ts';
import type { Database } from '../db/pool.ts';

/** One page of the audit log, newest first (contract.md section 10). */
export async function listEvents(
  deps: { db: Pick<Database, 'kysely'> },
  { limit = limits.pageDefault, cursor }: { limit?: number | undefined; cursor?: string | undefined },
): Promise<{ events: AuditEvent[]; nextCursor: string | null }> {
  let query = deps.db.kysely
    .selectFrom('audit_events')
    .selectAll()
    .select(sql<number>`(extract(epoch from at) * 1000000)::bigint`.as('micros'))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (cursor !== undefined) {
    const { micros, id } = decodeCursor(cursor);
    query = query.where(sql<boolean>`(at, id) < (timestamptz 'epoch' + ${micros} * interval '1 microsecond', ${id})`);
  }
  const rows = await query.execute();
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    events: shown.map((row) => ({
      id: row.id,
      at: row.at.toISOString(),
      actorId: row.actor_id,
      action: row.action,
      targetType: row.target_type,
      targetId: row.target_id,
      address: row.address,
      requestId: row.request_id,
      details: row.details,
    })),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor({ micros: last.micros, id: last.id }) : null,
  };
}
