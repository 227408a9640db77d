import { type Selectable, sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { SharesTable } from '../db/tables/sharing.ts';
import { readableFiles, type Snapshot } from './snapshot.ts';

/** Stored snapshots of shares. Only this file writes the tables `share_messages` and `share_files`. */

const batchBytes = 1_000_000;

/** Stores the snapshot in place of the present one. */
export async function storeSnapshot(
  trx: Queryable,
  share: Pick<Selectable<SharesTable>, 'id' | 'owner_id'>,
  { messages, files }: Snapshot,
): Promise<void> {
  await trx.deleteFrom('share_messages').where('share_id', '=', share.id).execute();
  await trx.deleteFrom('share_files').where('share_id', '=', share.id).execute();
  // Read again with a lock: the contents stay until the commit, and are the ones that are named.
  const ids = files.map(({ id }) => id);
  const locked = await readableFiles(trx, share.owner_id, ids, 'locked');
  const rows = locked.map((file, n) => ({ n, ...file, filename: file.path.slice(file.path.lastIndexOf('/') + 1) }));
  await sql`
    insert into share_files (share_id, n, artifact_id, sha256, size, media_type, filename)
    select ${share.id}, x.n, x.id, x.sha256, x.size, x.media_type, x.filename
    from json_to_recordset(${JSON.stringify(rows)}::json) as x
      (n int, id text, sha256 text, size int8, media_type text, filename text)`.execute(trx);
  let batch: typeof messages = [];
  let bytes = 0;
  for (const message of messages) {
    batch.push(message);
    bytes += message.parts.length;
    if (bytes < batchBytes) continue;
    await storeMessages(trx, share.id, batch);
    [batch, bytes] = [[], 0];
  }
  await storeMessages(trx, share.id, batch);
}

async function storeMessages(trx: Queryable, shareId: string, messages: Snapshot['messages']): Promise<void> {
  if (messages.length === 0) return;
  await sql`
    insert into share_messages (share_id, n, role, status, parts, finish_reason, created_at)
    select ${shareId}, x.n, x.role, x.status, x.parts, x."finishReason", x."createdAt"
    from json_to_recordset(${JSON.stringify(messages)}::json) as x
      (n int, role text, status text, parts text, "finishReason" text, "createdAt" timestamptz)`.execute(trx);
}
