import type { AuditAction } from '@homeport/contracts/audit';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import type { CatalogueTransaction } from './catalogue-owner.ts';

/**
 * The person who changes a catalogue, and whether it is their own. For changes to their own catalogue, the audit log
 * has the providers only. Undefined for changes that no user requested.
 */
export type ChangedBy = (AuditSource & { isOwner: boolean }) | undefined;

type Change = {
  id?: string;
  name?: string;
  baseUrl?: string;
  changed?: readonly string[];
  /** Others use it, before or after the change. */
  isShared?: boolean;
};

/**
 * Records a change to `owner`'s catalogue in its own transaction, if it concerns a provider or changes anything for
 * others; of a base URL only the origin, since its path and query can be secret.
 */
export async function recordChange(
  transaction: CatalogueTransaction,
  owner: string,
  by: ChangedBy,
  action: AuditAction,
  { id, name, baseUrl, changed, isShared = false }: Change,
): Promise<void> {
  if (by === undefined || (by.isOwner && !isShared && !action.startsWith('provider.'))) return;
  const { isOwner: _, ...source } = by;
  await recordEvent(transaction, source, {
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
