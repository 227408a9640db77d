import { forgetOldEvents } from '../audit/audit.ts';
import { hourly } from '../platform/hourly-tasks.ts';
import type { Platform } from '../platform.ts';
import { readOperation } from '../settings/operation.ts';

/** Removes audit events older than AUDIT_DAYS, at the start and every hour; several replicas may do so at once. */
export function startAuditRetention(deps: Pick<Platform, 'config' | 'db' | 'log'>): { stop(): Promise<void> } {
  return hourly(async (signal) => {
    try {
      const removed = await sweepAudit(deps, signal);
      if (removed > 0) deps.log.info({ removed }, 'removed old events from the audit log');
    } catch (error) {
      deps.log.warn({ cause: error }, 'failed to delete old events from the audit log; trying again later');
    }
  });
}

/** One sweep; resolves with the number of removed events. */
export async function sweepAudit(deps: Pick<Platform, 'config' | 'db'>, signal: AbortSignal): Promise<number> {
  const { auditDays } = await readOperation(deps);
  return forgetOldEvents(deps.db.kysely, auditDays, signal);
}
