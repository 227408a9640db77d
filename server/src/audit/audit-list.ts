import type { AuditEvent } from '@homeport/contracts/admin';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import { afterCursor, encodeCursor, microsOf, pageOf } from '../db/keyset.ts';
import type { Database } from '../db/pool.ts';

/** One page of the audit log, newest first (contract.md section 10). */
export async function listEvents(
  deps: { db: Pick<Database, 'kysely'> },
  { limit = limits.pageDefault, cursor }: { limit?: number; cursor?: string },
): Promise<{ events: AuditEvent[]; nextCursor: string | null }> {
  const rows = await deps.db.kysely
    .selectFrom('audit_events')
    .selectAll()
    .select(sql.raw<number>(microsOf('at')).as('micros'))
    .where(afterCursor('at', 'id', cursor))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const { shown, nextCursor } = pageOf(rows, limit, encodeCursor);
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
    nextCursor,
  };
}
