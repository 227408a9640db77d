import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { createChat, setActiveMessage, touchingChat } from '../../src/conversations/chats.ts';
import {
  finishingMessage,
  insertAssistantMessage,
  insertUserMessage,
  searchableText,
} from '../../src/conversations/messages.ts';
import {
  type PromptContextText,
  promptContextHash,
  storePromptContext,
} from '../../src/conversations/prompt-context.ts';
import { type Database, inTransaction } from '../../src/db/pool.ts';

/** Makers of conversation records for tests, with the functions that chat/ uses. */

export async function makeUser(db: Database): Promise<string> {
  const id = randomUUID();
  await db.kysely
    .insertInto('users')
    .values({ id, name: 'Someone', email: `${id}@example.org`, image: null, role: 'user' })
    .execute();
  return id;
}

export async function makeChat(db: Database, ownerId: string, title?: string): Promise<string> {
  return (await createChat({ db }, ownerId, { title })).id;
}

export type NewMessage = { id?: string; chatId: string; parentId: string | null; text: string };

/** A submitted message; resolves with its id. */
export async function say(db: Database, { id = randomUUID(), chatId, parentId, text }: NewMessage): Promise<string> {
  const parts = JSON.stringify([{ type: 'text', text }]);
  await inTransaction(db, async (trx) => {
    await insertUserMessage(trx, {
      id,
      chatId,
      parentId,
      parts,
      words: searchableText(parts),
      prompt: null,
      promptTokens: null,
    });
    await setActiveMessage(trx, chatId, id);
  });
  return id;
}

/** A finished answer to `parentId`; resolves with its id. */
export async function answer(
  db: Database,
  { id = randomUUID(), chatId, parentId, text }: NewMessage & { parentId: string },
): Promise<string> {
  const parts = JSON.stringify([{ type: 'text', text, state: 'done' }]);
  const prompt = JSON.stringify({ role: 'assistant', content: text });
  await inTransaction(db, async (trx) => {
    await insertAssistantMessage(trx, { id, chatId, parentId, modelId: 'model-1' });
    await setActiveMessage(trx, chatId, id);
    await touchingChat(chatId, sql`true`).execute(trx);
    await finishingMessage(
      {
        id,
        chatId,
        parts,
        words: searchableText(parts),
        status: 'complete',
        prompt,
        promptTokens: 3,
        usage: { inputTokens: 10, outputTokens: 2 },
      },
      sql`true`,
    ).execute(trx);
  });
  return id;
}

/** A running response row, as chat/ writes one with a claim. */
export async function startResponse(
  db: Database,
  chat: { id: string; ownerId: string },
  id: string = randomUUID(),
): Promise<string> {
  await db.kysely
    .insertInto('responses')
    .values({
      id,
      chat_id: chat.id,
      message_id: 'm',
      owner_id: chat.ownerId,
      state: 'running',
      replica: 'r',
      decision: '{}',
      // No sweep ends it.
      lease_until: new Date(Date.now() + 86_400_000),
      ended_at: null,
      end_frames: null,
    })
    .execute();
  return id;
}

/** A queued input, as chat/ admits one. */
export async function queueInput(db: Database, chat: { id: string; ownerId: string }, text: string): Promise<string> {
  const id = randomUUID();
  await db.kysely
    .insertInto('inputs')
    .values({
      id,
      chat_id: chat.id,
      owner_id: chat.ownerId,
      assistant_id: randomUUID(),
      parent_id: null,
      parent_given: false,
      decision: '{}',
      request_hash: 'h',
      // No app of a test starts it.
      start_after: new Date(Date.now() + 3_600_000),
      parts: JSON.stringify([{ type: 'text', text }]),
    })
    .execute();
  return id;
}

/** The prompt context of a response: nothing but a line of instructions. */
export async function addPromptContext(
  db: Database,
  answer: { messageId: string; ownerId: string; chatId: string },
): Promise<void> {
  const instructions = { text: 'Be brief.', ofConversation: false };
  const tools = { text: '[]', ofConversation: false };
  const hash = (text: PromptContextText) => promptContextHash(answer.ownerId, answer.chatId, text);
  await storePromptContext(db, answer, [instructions, tools], {
    model: { providerName: 'Provider', providerModelId: 'model' },
    parameters: {},
    instructions: [{ layer: 'installation', hash: hash(instructions), tokens: 3 }],
    tools: hash(tools),
    firstMessageId: null,
    requestId: null,
    summary: null,
    prunedUpToId: null,
    ratio: 1,
    tokens: 3,
    window: 1000,
    answerRoom: 100,
  });
}
