import type { AuditAction } from '@homeport/contracts/audit';
import { type AuditSource, recordEvent } from '../audit.ts';
import type { CatalogueTransaction } from './catalogue-owner.ts';

/**
 * Who changes a catalogue other than their own: an administrator changing somebody's or the shared one. Undefined for
 * people's own, which is not in the audit log.
 */
export type ChangedBy = AuditSource | undefined;

type Change = { id?: string; name?: string; baseUrl?: string | undefined; changed?: readonly string[] };

/**
 * Records a change to `owner`'s catalogue in its own transaction; of a base URL only the origin, since the rest may be
 * secret.
 */
export async function recordChange(
  transaction: CatalogueTransaction,
  owner: string,
  by: ChangedBy,
  action: AuditAction,
  { id, name, baseUrl, changed }: Change,
): Promise<void> {
  if (by === undefined) return;
  await recordEvent(transaction, by, {
    action,
    targetType: action.slice(0, action.indexOf('.')),
    ...(id === undefined ? {} : { targetId: id }),
    details: {
      owner,
      ...(name === undefined ? {} : { name }),
      ...(baseUrl === undefined ? {} : { origin: new URL(baseUrl).origin }),
      ...(changed === undefined ? {} : { changed }),
    },
  });
}
