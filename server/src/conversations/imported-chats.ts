import type { Parameters } from '@homeport/contracts/chat/parameters';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { ownerLexeme } from './search-text.ts';

/** Changes to many conversations, by imports and by accounts that leave. */

/** A conversation from an import; `words` is its title's `searchText`. */
export type ImportedChat = {
  /** Its position in the import: the order of insertion. */
  n: number;
  id: string;
  ownerEmail: string;
  title: string;
  words: string;
  archived: boolean;
  activeMessageId: string | null;
  createdAt: string | null;
  updatedAt: string | null;
  instructions: string | null;
  parameters: Parameters;
  /** A project of the owner's; none if absent. */
  projectId?: string | null;
};

/**
 * Inserts conversations of existing users in one statement; ids already in use by anybody are skipped. Returns the new
 * ids.
 */
export async function importChats(trx: Queryable, chats: readonly ImportedChat[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into chats (id, owner_id, title, title_source, title_search, archived, active_message_id, created_at, updated_at,
      instructions, parameters, project_id)
    select x.id, u.id, x.title, 'person',
      case when x.words <> '' then to_tsvector('simple', x.words) || array_to_tsvector(array[${sql.lit(ownerLexeme(''))} || u.id]) end,
      x.archived, x."activeMessageId", coalesce(x."createdAt", now()), coalesce(x."updatedAt", x."createdAt", now()),
      x.instructions, x.parameters, x."projectId"
    from json_to_recordset(${JSON.stringify(chats)}::json) as x
      (n int, id text, "ownerEmail" text, title text, words text, archived boolean, "activeMessageId" text,
        "createdAt" timestamptz, "updatedAt" timestamptz, instructions text, parameters jsonb,
        "projectId" text)
    join users u on u.email = x."ownerEmail" order by x.n
    on conflict (id) do nothing returning id`.execute(trx);
  return rows.map(({ id }) => id);
}

/**
 * Shows a message that an import added, where nothing was said here since: the messages before it are all imported
 * ones.
 */
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
  // Locked first, so that the second statement sees concurrent commits.
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
