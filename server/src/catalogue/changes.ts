import type { AuditAction } from '@homeport/contracts/audit';
import { type AuditSource, recordEvent } from '../audit.ts';
import type { CatalogueTransaction } from './catalogue-owner.ts';

/**
 * Who changes a catalogue that is not, or not only, their own: an administrator somebody's or the shared one. Undefined for one's
 * own, which the audit log does not tell of.
 */
export type ChangedBy = AuditSource | undefined;

type Change = { id?: string; name?: string; baseUrl?: string | undefined; changed?: readonly string[] };

/** Records a change of `owner`'s catalogue in its own transaction; of a base URL its origin, for more may be a secret. */
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
