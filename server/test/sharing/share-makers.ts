import { randomUUIDv7 } from 'node:crypto';
import type { Json, SignedIn, TestApp } from '../app.ts';
import { put } from '../artifacts/artifact-makers.ts';
import { makeChat } from '../conversations/conversation-makers.ts';

/** Makers of shared conversations for tests. */

export const everything = { reasoning: true, tools: true, files: true, author: true };
export const textOnly = { reasoning: false, tools: false, files: false, author: false };

/** Texts of the parts that can be left out, each to be found in any byte of an answer. */
export const marks = {
  question: 'MARK-QUESTION',
  answer: 'MARK-ANSWER',
  reasoning: 'MARK-REASONING',
  toolInput: 'MARK-TOOL-INPUT',
  toolOutput: 'MARK-TOOL-OUTPUT',
  file: 'MARK-FILE-CONTENT',
  filename: 'MARK-FILENAME.txt',
  other: 'MARK-OTHER-BRANCH',
  notice: 'MARK-NOTICE',
  instructions: 'MARK-INSTRUCTIONS',
};

export async function allowSharing({ database }: TestApp, policy: 'off' | 'inside' | 'public'): Promise<void> {
  await database.database.pool.query('update settings set sharing = $1', [policy]);
}

/** A conversation with one of each kind of part. */
export async function makeFullChat(app: TestApp, user: SignedIn) {
  const { database } = app.database;
  const chatId = await makeChat(database, user.id, 'A conversation');
  await database.pool.query('update chats set instructions = $2 where id = $1', [chatId, marks.instructions]);
  const file = await put(user, { chatId }, marks.filename, marks.file);
  const question = await addMessage(app, chatId, null, 'user', [
    { type: 'text', text: marks.question },
    { type: 'file', mediaType: 'text/plain', filename: marks.filename, url: `artifact://${file.id}` },
  ]);
  const answer = await addMessage(app, chatId, question, 'assistant', [
    { type: 'step-start' },
    { type: 'reasoning', text: marks.reasoning },
    {
      type: 'dynamic-tool',
      toolName: 'bash',
      toolCallId: 'call-1',
      state: 'output-available',
      input: { command: `${marks.toolInput} /home/user/secret.txt` },
      output: { text: marks.toolOutput },
    },
    { type: 'data-notice', data: { code: 'note', message: marks.notice } },
    { type: 'text', text: marks.answer },
  ]);
  await addMessage(app, chatId, question, 'assistant', [{ type: 'text', text: marks.other }]);
  return { chatId, question, answer, fileId: file.id as string };
}

export async function addMessage(
  app: TestApp,
  chatId: string,
  parentId: string | null,
  role: 'user' | 'assistant',
  parts: readonly object[],
  status = 'complete',
): Promise<string> {
  const id = randomUUIDv7();
  await app.database.database.pool.query(
    'insert into messages (id, chat_id, parent_id, role, parts, status) values ($1, $2, $3, $4, $5, $6)',
    [id, chatId, parentId, role, JSON.stringify(parts), status],
  );
  return id;
}

/** Shares a conversation or file; the record and the token of its address. */
export async function makeShare(user: SignedIn, body: object): Promise<{ share: Json; token: string; url: string }> {
  const made = await user.call('POST /api/shares', { expiresAt: null, include: textOnly, ...body });
  if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
  const { share, url } = made.body;
  return { share, url, token: url.slice(url.lastIndexOf('/') + 1) };
}
