import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';

/** What imports and leaving people change in many conversations. */

/** Shows a message that an import added, where nothing was said here since: the messages before it are all imported ones. */
export async function showImported(trx: Queryable, chatId: string, messageId: string, updatedAt: string | null) {
  await sql`
    update chats set active_message_id = ${messageId}, updated_at = greatest(updated_at, ${updatedAt}::timestamptz)
    where id = ${chatId}`.execute(trx);
}

/** Shows the newest message where the one that was shown has gone. */
export async function showNewest(trx: Queryable, chatId: string): Promise<void> {
  await sql`
    update chats c set active_message_id = (select id from messages m where m.chat_id = c.id order by seq desc limit 1)
    where c.id = ${chatId} and not exists (select from messages m where m.id = c.active_message_id)`.execute(trx);
}

/** Deletes those of a person's conversations in which nothing was said since `lastSeq`; returns how many. */
export async function deleteUntouched(
  trx: Queryable,
  ownerId: string,
  chats: readonly { id: string; lastSeq: number }[],
): Promise<number> {
  const ids = chats.map(({ id }) => id);
  // Locked first: what others commit meanwhile is seen by the second statement.
  await sql`select id from chats where id = any(${ids}) and owner_id = ${ownerId} order by id for update`.execute(trx);
  const { numAffectedRows } = await sql`
    delete from chats c using json_to_recordset(${JSON.stringify(chats)}::json) as x (id text, "lastSeq" bigint)
    where c.id = x.id and c.owner_id = ${ownerId}
      and not exists (select from messages m where m.chat_id = c.id and m.seq > x."lastSeq")
      and not exists (select from inputs i where i.chat_id = c.id and i.state = 'queued')`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

/** Deletes some of a person's conversations; returns how many. */
export async function deleteSomeChats(trx: Queryable, ownerId: string, most: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from chats where id in (select id from chats where owner_id = ${ownerId} limit ${most})`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

/** Takes a person's conversations out of all projects. */
export async function takeAllChatsOut(trx: Queryable, ownerId: string): Promise<void> {
  await trx
    .updateTable('chats')
    .set({ project_id: null })
    .where('owner_id', '=', ownerId)
    .where('project_id', 'is not', null)
    .execute();
}
