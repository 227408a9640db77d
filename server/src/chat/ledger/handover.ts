import { sql } from 'kysely';
import type { Queryable } from '../../db/pool.ts';
import type { ResponseRow } from './response-start.ts';

/**
 * Handing over unfinished responses of a stopping replica: such a response ends as `interrupted`, and another replica
 * continues it at once. Followers wait for that. Without a replica to continue it within a minute, it stays
 * interrupted. An upgrade stops every replica: the first one after it restarts that minute.
 */

/** SQL on a row of `responses`: whether another replica is about to continue it. */
export const isContinuedText = `(handed_over and ended_at > now() - interval '1 minute')`;
export const isContinued = sql<boolean>`${sql.raw(isContinuedText)}`;

/** The response of a conversation that can be followed, if any. */
export async function findFollowable(db: Queryable, chatId: string): Promise<ResponseRow | undefined> {
  return (
    db
      .selectFrom('responses')
      .selectAll()
      .where('chat_id', '=', chatId)
      .where((eb) => eb.or([eb('state', '=', 'running'), isContinued]))
      // 'running' before 'interrupted'.
      .orderBy('state', 'desc')
      .executeTakeFirst()
  );
}

/** Restarts the minute for responses handed over within the last hour while no replica was running. */
export async function keepHandedOver(db: Queryable): Promise<void> {
  await sql`
    update responses set ended_at = now()
    where handed_over and state = 'interrupted' and ended_at > now() - interval '1 hour'`.execute(db);
}

/** Conversations whose last response was handed over. */
export async function findHandedOver(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await sql<{ chat_id: string }>`
    select r.chat_id from responses r
    join chats c on c.id = r.chat_id and c.active_message_id = r.id and not c.archived
    join users u on u.id = r.owner_id and u.enabled
    where ${isContinued}
    limit ${limit}`.execute(db);
  return rows.map((row) => row.chat_id);
}
