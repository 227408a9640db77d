import type { Chat } from '@homeport/contracts/chat/conversations';
import { ApiError } from '@homeport/contracts/errors';
import type { Platform } from '../../platform.ts';
import { type BranchPage, findPages, type PageSize, readPage } from '../branch-pages.ts';
import { listEveryChat } from '../chat-list.ts';
import { getOwnedChat } from '../chats.ts';
import { type MessageRow, messageJson } from '../message-page.ts';
import { parseStoredParts } from '../stored-parts.ts';
import type { ConversationExport } from './export.ts';
import { inline, markdownHead, markdownMessage } from './markdown.ts';

/**
 * Conversations for the command-line tool in a workspace: the list, and of one conversation the active branch by turns.
 * A turn is a message of the user with all its answers; messages before the first of them form a turn too. Written page
 * by page as the receiver takes it, holding neither the conversation nor a connection.
 */

type Needs = Pick<Platform, 'db'>;
export type Format = 'markdown' | 'json';

const wholePages: PageSize = { messages: 50, bytes: 1_000_000, partsOf: 'all' };
const userPages: PageSize = { messages: 1_000, bytes: 1_000_000, partsOf: 'user' };
const lineMax = 160;
const chunkLength = 32 * 1024;

const mediaTypes = { markdown: 'text/markdown', json: 'application/json' } as const;

function file(name: string, format: Format, chunks: AsyncGenerator<string, void>): ConversationExport {
  return {
    filename: `${name}.${format === 'json' ? 'json' : 'md'}`,
    mediaType: mediaTypes[format],
    chunks: joined(chunks),
  };
}

/** Fewer and longer chunks: each is written by itself. */
async function* joined(pieces: AsyncGenerator<string, void>): AsyncGenerator<string, void> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < chunkLength) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** A page of all the conversations of an owner. As JSON it is what GET /api/chats answers. */
export async function readList(
  deps: Needs,
  ownerId: string,
  request: { format: Format; limit?: number; cursor?: string },
): Promise<ConversationExport> {
  const { chats, nextCursor } = await listEveryChat(deps, ownerId, request);
  return file(
    'conversations',
    request.format,
    (async function* () {
      if (request.format === 'json') yield `${JSON.stringify({ chats, nextCursor })}\n`;
      else {
        yield '# Conversations\n\n';
        for (const chat of chats) yield `- ${inline(chat.title)}${stateOf(chat)}: ${chat.id}, ${chat.updatedAt}\n`;
        if (nextCursor !== null) yield `\nThere are more: cursor ${nextCursor}\n`;
      }
    })(),
  );
}

/** Title, dates, models and number of turns, and one line of each turn. */
export async function readOverview(
  deps: Needs,
  ownerId: string,
  { chatId, format }: { chatId: string; format: Format },
): Promise<ConversationExport> {
  const chat = await getOwnedChat(deps.db.kysely, ownerId, chatId);
  const branch = await openBranch(deps, chatId, userPages);
  const models = await readModels(deps, branch.pages);
  const isJson = format === 'json';
  const lines = async function* () {
    if (isJson) yield `${JSON.stringify({ chat, models, turnCount: branch.turnCount }).slice(0, -1)},"turns":[`;
    else yield overviewHead(chat, models, branch.turnCount);
    let separator = '\n';
    for await (const { row, turn, isFirst } of messagesOf(deps, branch, 0)) {
      if (!isFirst) continue;
      const text = firstLine(row);
      const createdAt = row.created_at.toISOString();
      if (isJson) yield `${separator}${JSON.stringify({ turn, messageId: row.id, createdAt, text })}`;
      else yield `${turn}. ${createdAt}: ${inline(text)}\n`;
      separator = ',\n';
    }
    if (isJson) yield '\n]}\n';
  };
  return file(chatId, format, lines());
}

/** All turns, or one of them; throws `not_found` when there is no such turn. */
export async function readTurns(
  deps: Needs,
  ownerId: string,
  { chatId, format, turn: wanted }: { chatId: string; format: Format; turn?: number },
): Promise<ConversationExport> {
  const chat = await getOwnedChat(deps.db.kysely, ownerId, chatId);
  const branch = await openBranch(deps, chatId, wholePages);
  const { turnCount } = branch;
  if (wanted !== undefined && wanted > turnCount) {
    throw new ApiError('not_found', `This conversation has ${turnCount} turns`);
  }
  const isJson = format === 'json';
  const parts = async function* () {
    if (isJson) yield `${JSON.stringify({ chat, turnCount, turn: wanted }).slice(0, -1)},"messages":[`;
    else yield markdownHead(chat.title);
    let separator = '\n';
    for await (const { row, turn } of messagesOf(deps, branch, wanted ?? 0)) {
      if (wanted !== undefined && turn > wanted) break;
      if (isJson) yield separator + messageJson(chatId, row);
      else yield markdownOf(row, turn);
      separator = ',\n';
    }
    if (isJson) yield '\n]}\n';
  };
  return file(chatId, format, parts());
}

type Branch = { pages: BranchPage[]; partsOf: PageSize['partsOf']; turnCount: number; startsWithAnswer: boolean };

async function openBranch(deps: Needs, chatId: string, size: PageSize): Promise<Branch> {
  const pages = await findPages(deps, chatId, size);
  const startsWithAnswer = pages[0]?.oldestRole === 'assistant';
  const userMessages = pages.reduce((sum, page) => sum + page.userCount, 0);
  return { pages, partsOf: size.partsOf, turnCount: userMessages + (startsWithAnswer ? 1 : 0), startsWithAnswer };
}

/** The messages from turn `from` on, with the number of their turn; pages before it are not read. */
async function* messagesOf(deps: Needs, { pages, partsOf, startsWithAnswer }: Branch, from: number) {
  let turn = 0;
  for (const [index, page] of pages.entries()) {
    const isOpening = index === 0 && startsWithAnswer;
    const last = turn + page.userCount + (isOpening ? 1 : 0);
    const isWanted = last >= from && (partsOf === 'all' || last > turn);
    if (!isWanted) {
      turn = last;
      continue;
    }
    for (const [place, row] of (await readPage(deps, page, partsOf)).entries()) {
      const isFirst = row.role === 'user' || (isOpening && place === 0);
      if (isFirst) turn += 1;
      if (turn >= from) yield { row, turn, isFirst };
    }
  }
}

type Model = { id: string; name: string | null };

/** The models that answered, in the order of their names; `name` is null for one that is gone. */
async function readModels(deps: Needs, pages: readonly BranchPage[]): Promise<Model[]> {
  const ids = [...new Set(pages.flatMap((page) => page.modelIds))];
  if (ids.length === 0) return [];
  const rows = await deps.db.kysely
    .selectFrom('models')
    .select(['id', 'display_name'])
    .where('id', 'in', ids)
    .execute();
  const names = new Map(rows.map((row) => [row.id, row.display_name]));
  const models = ids.map((id) => ({ id, name: names.get(id) ?? null }));
  return models.sort((a, b) => (a.name ?? a.id).localeCompare(b.name ?? b.id, 'en'));
}

function overviewHead(chat: Chat, models: readonly Model[], turnCount: number): string {
  const names = models.map(({ id, name }) => inline(name ?? id)).join(', ');
  return `${markdownHead(chat.title)}
- Conversation: ${chat.id}${stateOf(chat)}
- Begun: ${chat.createdAt}
- Last activity: ${chat.updatedAt}
- Models: ${names === '' ? 'none yet' : names}
- Turns: ${turnCount}

`;
}

function stateOf(chat: Chat): string {
  return `${chat.archived ? ' (archived)' : ''}${chat.running ? ' (running)' : ''}`;
}

function markdownOf(row: MessageRow, turn: number): string {
  return markdownMessage({
    role: row.role,
    parts: parseStoredParts(row.parts),
    status: row.status,
    error: row.error_message,
    finishReason: row.finish_reason,
    createdAt: row.created_at,
    turn,
  });
}

/** First line of the user's message, or the names of the files if it has no text. */
function firstLine(row: MessageRow): string {
  const parts = parseStoredParts(row.parts);
  const userMessages = parts.flatMap((part) => (part.type === 'text' ? [part.text.slice(0, 10 * lineMax)] : []));
  const named = parts.flatMap((part) => (part.type === 'file' ? [`[${part.filename ?? part.mediaType}]`] : []));
  const text = (userMessages.join(' ').trim() || named.join(' ')).replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const characters = [...text];
  return characters.length > lineMax ? `${characters.slice(0, lineMax - 1).join('')}…` : text;
}
