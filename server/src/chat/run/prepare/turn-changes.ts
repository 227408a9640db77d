import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { assertOwnedChat } from '../../../conversations/chats.ts';
import type { Queryable } from '../../../db/pool.ts';

/** Tools that write in the workspace. */
const writing = '"toolName":"(?:bash|write_file|edit_file|delegate)"';

type Answer = { chatId: string; messageId: string };

/** Whether an answer of this owner may have changed files, and whether it is still being made. Throws `not_found`. */
export async function findWritingAnswer(
  db: Queryable,
  ownerId: string,
  { chatId, messageId }: Answer,
): Promise<{ mayHaveWritten: boolean; isRunning: boolean }> {
  await assertOwnedChat(db, ownerId, chatId);
  const answer = await db
    .selectFrom('messages')
    .select([
      sql<boolean>`parts ~ ${writing}`.as('wrote'),
      sql<boolean>`exists (select from responses r where r.id = messages.id and r.state = 'running')`.as('isRunning'),
    ])
    .where('id', '=', messageId)
    .where('chat_id', '=', chatId)
    .where('role', '=', 'assistant')
    .executeTakeFirst();
  if (answer === undefined) throw new ApiError('not_found', 'Message not found');
  return { mayHaveWritten: answer.wrote || answer.isRunning, isRunning: answer.isRunning };
}

export function assertEnded({ isRunning }: { isRunning: boolean }): void {
  if (isRunning) throw new ApiError('response_running', 'The answer is still running. Stop it first.');
}
