import { createHash } from 'node:crypto';
import type { AboutMe } from '@homeport/contracts/accounts/accounts';
import type { MessageMetadata } from '@homeport/contracts/chat/frames';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { TurnBudget } from '@homeport/contracts/chat/turn-budget';
import { type AnsweringAssistant, answeringAssistant } from '../assistants/readers-own.ts';
import { asyncCommit } from '../db/async-commit.ts';
import { columnList } from '../db/column-list.ts';
import type { Database, Queryable } from '../db/pool.ts';
import type { ToldContext } from '../db/tables/tables.ts';
import { budgetResetsAt } from '../usage/budget-rule.ts';
import { namingAssistant } from './messages.ts';

/**
 * Prompt context: all input of a model besides messages. Read at each turn and stored as it was sent. The only writer
 * of `told_texts` and `told_contexts`.
 */

/** Instructions and settings by users and administrators for a turn of this conversation. */
export type PromptContext = {
  /** Null: the default text is in force. */
  installation: string | null;
  projectName: string | null;
  project: string | null;
  userName: string;
  person: string | null;
  about: Partial<AboutMe> | null;
  conversation: string | null;
  parameters: Parameters;
  /** Null: none was chosen, or the owner may not use it any more. */
  assistant: AnsweringAssistant | null;
  /** The assistant and version for which the owner last got a notice about missing parts. */
  assistantNotice: string | null;
  /** End of the time in which no model can be asked because a budget is used up; null: no budget is used up. */
  budgetResetsAt: Date | null;
  turnBudget: Partial<TurnBudget>;
};

const columns = {
  installation: 's.instructions',
  projectName: 'p.name',
  project: 'p.instructions',
  userName: 'u.name',
  person: 'u.instructions',
  about: 'u.about_me',
  conversation: 'c.instructions',
  parameters: 'c.parameters',
  assistantNotice: 'c.assistant_notice',
  budgetResetsAt: budgetResetsAt('c.owner_id'),
  turnBudget: 's.turn_budget',
};

// One statement a turn, whatever the number of layers. Most conversations have no assistant, which is the dear part.
const readPlain = reading('read-told', 'null::json', '');
const readWithAssistant = reading(
  'read-told-with-assistant',
  'assistant.value',
  `left join lateral (${answeringAssistant('c.assistant_id', 'c.owner_id', '$2')}) assistant on true`,
);

function reading(name: string, assistant: string, join: string) {
  const list = columnList<PromptContext>({ ...columns, assistant });
  const text = `select ${list} from chats c join users u on u.id = c.owner_id cross join settings s
    left join projects p on p.id = c.project_id ${join} where c.id = $1`;
  return { name, text };
}

/**
 * `catalogue` is the owner's, where the conversation's assistant finds its models; undefined: without an assistant.
 * Undefined when the conversation is gone.
 */
export async function readPromptContext(
  db: Pick<Database, 'pool'>,
  chatId: string,
  catalogue: string | undefined,
): Promise<PromptContext | undefined> {
  const statement =
    catalogue === undefined
      ? { ...readPlain, values: [chatId] }
      : { ...readWithAssistant, values: [chatId, catalogue] };
  const { rows } = await db.pool.query<PromptContext>(statement);
  return rows[0];
}

export type PromptContextText = { text: string; ofConversation: boolean };

/** Key of a stored text: one copy for each owner, or one in the conversation that it belongs to. */
export function promptContextHash(owner: string, chatId: string, { text, ofConversation }: PromptContextText): string {
  const place = ofConversation ? `chat ${chatId}` : `owner ${owner}`;
  return createHash('sha256').update(`${place}\n${text}`).digest('base64url');
}

const storeStatement = {
  name: 'store-told',
  // The commit does not wait for the disk: that of the answer's end, which comes later, brings this one with it.
  text: `with ${asyncCommit}, texts as (
      insert into told_texts (hash, owner_id, chat_id, text)
      select t.hash, $2, case when t.of_conversation then $3 end, t.text
      from unnest($4::text[], $5::bool[], $6::text[]) as t (hash, of_conversation, text)
      on conflict (hash) do nothing
    ), named as (${namingAssistant('$1', '$8')})
    insert into told_contexts (message_id, context)
    select m.id, $7::jsonb from messages m, settings where m.id = $1
    on conflict (message_id) do update set context = excluded.context`,
};

/** Stores the prompt context of an answer, and replaces that of an earlier part of the same answer. */
export async function storePromptContext(
  db: Pick<Database, 'pool'>,
  answer: { messageId: string; ownerId: string; chatId: string; assistant?: MessageMetadata['assistant'] },
  texts: readonly PromptContextText[],
  context: ToldContext,
): Promise<void> {
  const { messageId, ownerId, chatId, assistant } = answer;
  await db.pool.query({
    ...storeStatement,
    values: [
      messageId,
      ownerId,
      chatId,
      texts.map((text) => promptContextHash(ownerId, chatId, text)),
      texts.map(({ ofConversation }) => ofConversation),
      texts.map(({ text }) => text),
      JSON.stringify(context),
      assistant === undefined ? null : JSON.stringify(assistant),
    ],
  });
}

/**
 * Returns the stored prompt context of an answer with its texts; undefined if none was stored. The caller has checked
 * the owner of the conversation.
 */
export async function findPromptContext(
  db: Queryable,
  messageId: string,
): Promise<{ context: ToldContext; texts: Map<string, string> } | undefined> {
  const row = await db
    .selectFrom('told_contexts')
    .select('context')
    .where('message_id', '=', messageId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { instructions, tools, summary } = row.context;
  const hashes = [...instructions.map(({ hash }) => hash), tools, ...(summary === null ? [] : [summary.hash])];
  const texts = await db.selectFrom('told_texts').select(['hash', 'text']).where('hash', 'in', hashes).execute();
  return { context: row.context, texts: new Map(texts.map(({ hash, text }) => [hash, text])) };
}
