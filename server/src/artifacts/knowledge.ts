import { assertRoomForFile, storeFileChange } from '../assistants/file-changes.ts';
import type { AuditSource } from '../audit/audit.ts';
import type { Queryable } from '../db/pool.ts';
import type { Namespace } from './namespaces.ts';

/** Changes of the files of an assistant, which make versions of it. Other namespaces have none. */

/** The account that changes files, and the origin of the request if there is one. */
export type Changer = { userId: string; by?: AuditSource };

/** Throws `invalid_request` if the namespace is of an assistant that can have no other file. */
export async function assertRoomInNamespace(trx: Queryable, { type, id }: Namespace): Promise<void> {
  if (type === 'assistant') await assertRoomForFile(trx, id);
}

/** Stores the files of an assistant as a version, in the transaction that changes them. */
export async function storeVersionOf(
  trx: Queryable,
  { type, id }: Namespace,
  { userId, by = { actorId: userId, address: null, requestId: null } }: Changer,
  kind: 'added' | 'changed',
): Promise<void> {
  if (type === 'assistant') await storeFileChange(trx, by, { id, userId, kind });
}
