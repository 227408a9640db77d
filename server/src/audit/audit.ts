import { randomUUIDv7 } from 'node:crypto';
import type { AuditAction } from '@homeport/contracts/audit';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';

/**
 * The audit log (contract.md section 10): actor, action, target, time and origin. The only writer of `audit_events`.
 */

/** The actor and the origin of a request. Handlers get it from `sourceOf`; operator commands use `operator`. */
export type AuditSource = { actorId: string | null; address: string | null; requestId: string | null };

/** An operator at the command line: no account, no request. */
export const operator: AuditSource = { actorId: null, address: null, requestId: null };

type DetailValue = string | number | boolean | null | readonly string[] | readonly number[];
/**
 * `details` name what changed, with harmless values. Never a secret, not even sealed: for API keys, headers, passwords
 * and tokens only that they changed.
 */
export type AuditEvent = {
  action: AuditAction;
  targetType?: string;
  targetId?: string;
  details?: Readonly<Record<string, DetailValue>>;
};

const textMax = 200;
const listMax = 50;
const membersMax = 30;
const removedAtOnce = 1_000;
/** Of one sweep. */
const batchesMax = 100;
const failedSignInsMax = 20;

/** Records an event in the transaction of the action itself, so that neither exists without the other. */
export async function recordEvent(db: Queryable, source: AuditSource, event: AuditEvent): Promise<void> {
  await sql`
    insert into audit_events (id, actor_id, action, target_type, target_id, address, request_id, details)
    values (${randomUUIDv7()}, ${source.actorId}, ${event.action}, ${event.targetType ?? null},
      ${event.targetId ?? null}, ${source.address}, ${source.requestId},
      ${JSON.stringify(bounded(event.details ?? {}))}::jsonb)`.execute(db);
}

/**
 * Records a wrong password: at most twenty in ten minutes per account, and as many for all unknown addresses together,
 * so that guessing cannot fill the log. The submitted email is not recorded, since people type passwords into that
 * field.
 */
export async function recordFailedSignIn(
  db: Queryable,
  source: AuditSource,
  userId: string | undefined,
): Promise<void> {
  if (await isOftenRecorded(db, 'session.sign_in_failed', userId)) return;
  const target = userId === undefined ? {} : { targetType: 'user', targetId: userId };
  await recordEvent(db, source, { action: 'session.sign_in_failed', ...target });
}

/** Records a refused single sign-on, at most twenty in ten minutes: anybody can begin one. */
export async function recordRefusedSignOn(
  db: Queryable,
  source: AuditSource,
  details: Readonly<Record<string, string>>,
): Promise<void> {
  if (await isOftenRecorded(db, 'oidc.refused')) return;
  await recordEvent(db, source, { action: 'oidc.refused', details });
}

async function isOftenRecorded(db: Queryable, action: AuditAction, targetId?: string): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from audit_events
    where action = ${action} and at > now() - interval '10 minutes'
      and target_id is not distinct from ${targetId ?? null}`.execute(db);
  return (rows[0]?.count ?? 0) >= failedSignInsMax;
}

/** Removes the oldest events before the last `days`, at most a hundred thousand. Resolves with their number. */
export async function forgetOldEvents(db: Queryable, days: number, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (let batch = 0; batch < batchesMax && !signal.aborted; batch += 1) {
    const { numAffectedRows = 0n } = await sql`
      with old as (
        select id from audit_events where at < now() - ${days} * interval '1 day'
        order by at limit ${removedAtOnce} for update skip locked
      )
      delete from audit_events where id in (select id from old)`.execute(db);
    removed += Number(numAffectedRows);
    if (numAffectedRows < removedAtOnce) break;
  }
  return removed;
}

/** The names of the given members, for `details.changed`. */
export function changedFields(changes: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(changes).filter((name) => changes[name] !== undefined);
}

/** Truncates a long value; the log keeps enough to recognize it. */
function bounded(details: Readonly<Record<string, DetailValue>>): Record<string, unknown> {
  const members = Object.entries(details).slice(0, membersMax);
  return Object.fromEntries(members.map(([name, value]) => [name, boundedValue(value)]));
}

function boundedValue(value: DetailValue): unknown {
  if (typeof value === 'string') return value.slice(0, textMax).toWellFormed();
  return Array.isArray(value) ? value.slice(0, listMax).map(boundedValue) : value;
}
