import type { AnswerContext } from '@homeport/contracts/chat/context';
import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import type { ToldContext } from '../db/tables/tables.ts';
import type { Platform } from '../platform.ts';
import { assertOwnedChat } from './chats.ts';
import { findPromptContext } from './prompt-context.ts';

/** Older messages than these are counted, not listed. */
const messagesMax = 2_000;

/**
 * Returns the prompt context of an answer (GET /api/chats/context). Throws `not_found`, also for an answer without one.
 */
export async function readAnswerContext(
  deps: Pick<Platform, 'db'>,
  ownerId: string,
  { chatId, messageId }: { chatId: string; messageId: string },
): Promise<AnswerContext> {
  const db = deps.db.kysely;
  await assertOwnedChat(db, ownerId, chatId);
  const answer = await db
    .selectFrom('messages')
    .select(['parent_id', 'usage', sql<boolean>`parts not like '%"step-start"%"step-start"%'`.as('isOneStep')])
    .where('id', '=', messageId)
    .where('chat_id', '=', chatId)
    .where('role', '=', 'assistant')
    .executeTakeFirst();
  if (answer === undefined) throw new ApiError('not_found', 'Message not found');
  const found = await findPromptContext(db, messageId);
  if (found === undefined) throw new ApiError('not_found', 'What the model received for this answer was not recorded');
  const { context, texts } = found;
  const instructions = context.instructions.map(({ layer, hash, tokens }) => ({
    layer,
    text: texts.get(hash) ?? '',
    tokens,
  }));
  const tools = parseTools(texts.get(context.tools));
  const files = context.files?.total ?? null;
  const countedTokens = sumOf(instructions) + sumOf(tools) + (context.summary?.tokens ?? 0) + (files ?? 0);
  const { rows: branch, count } = await readBranch(deps, chatId, answer.parent_id);
  // Of earlier answers only the sum of all requests was kept: of one alone it is the count of what was sent.
  const isOneRequest = answer.isOneStep && context.madeSummary !== true;
  const counted = answer.usage?.promptTokens ?? (isOneRequest ? answer.usage?.inputTokens : undefined);
  return {
    model: context.model,
    parameters: context.parameters,
    instructions,
    system: instructions.map(({ text }) => text).join('\n\n'),
    tools,
    messages: statesOf(branch, context).toReversed(),
    earlierMessages: count - branch.length,
    summary:
      context.summary === null
        ? null
        : {
            text: texts.get(context.summary.hash) ?? '',
            upToMessageId: context.summary.upToId,
            tokens: context.summary.tokens,
          },
    tokens: {
      total: counted ?? context.tokens,
      window: context.window,
      answerRoom: context.answerRoom,
      messages: Math.max(context.tokens - countedTokens, 0),
      files,
      counted: counted !== undefined,
    },
  };
}

function sumOf(parts: readonly { tokens: number }[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** As `keepTold` wrote it. */
function parseTools(json = '[]'): AnswerContext['tools'] {
  return JSON.parse(json);
}

type BranchRow = { id: string; tokens: number | null; count: number };

/** The newest messages of the branch, newest first, and how many it has: branches never change above an answer. */
async function readBranch(
  deps: Pick<Platform, 'db'>,
  chatId: string,
  leafId: string | null,
): Promise<{ rows: BranchRow[]; count: number }> {
  const { rows } = await sql<BranchRow>`
    with recursive branch as (
      select id, parent_id, prompt_tokens as tokens, 1 as depth from messages where id = ${leafId} and chat_id = ${chatId}
      union all
      select m.id, m.parent_id, m.prompt_tokens, b.depth + 1 from branch b join messages m on m.id = b.parent_id
    )
    select id, tokens, (count(*) over ())::int as count from branch order by depth limit ${messagesMax}`.execute(
    deps.db.kysely,
  );
  return { rows, count: rows[0]?.count ?? 0 };
}

function statesOf(branch: readonly BranchRow[], context: ToldContext): AnswerContext['messages'] {
  const { firstMessageId, requestId, summary, prunedUpToId, ratio, files } = context;
  let isSent = firstMessageId !== null;
  let isPruned = false;
  let isSummarized = false;
  const sizeOf = (id: string, tokens: number | null) =>
    files?.messages[id] ?? { tokens: Math.ceil((tokens ?? 0) * ratio) };
  return branch.map(({ id, tokens }) => {
    const size = Math.ceil((tokens ?? 0) * ratio);
    isPruned ||= id === prunedUpToId;
    isSummarized ||= id === summary?.upToId;
    if (isSent) {
      isSent = id !== firstMessageId;
      return { id, state: 'sent', ...(isPruned ? { reason: 'Its tool calls in short' } : {}), ...sizeOf(id, tokens) };
    }
    if (id === requestId) return { id, state: 'sent', reason: 'As the first request', ...sizeOf(id, tokens) };
    return isSummarized
      ? { id, state: 'summarized', reason: 'The summary stands for it', tokens: size }
      : { id, state: 'omitted', reason: 'There was no room for it', tokens: size };
  });
}
