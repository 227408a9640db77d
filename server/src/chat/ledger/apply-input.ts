import { sql } from 'kysely';
import { pinModel, showingMessage } from '../../conversations/chats.ts';
import { fitting, insertingExchange, insertUserMessage } from '../../conversations/messages.ts';
import { parseStoredParts } from '../../conversations/stored-parts.ts';
import { bound, lastly, type Queryable } from '../../db/pool.ts';
import type { Decision } from '../../db/tables/chat.ts';
import { instantTitle } from '../turn/title.ts';
import { applying, type InputRow, overriddenBy } from './inputs.ts';
import type { LockedChat } from './locked-chat.ts';
import { cancelled, leaseUntil, type Maker, newPin, type ResponseRow } from './response-start.ts';
import { answerTogether, takenWith } from './steering.ts';
import { storeMessage } from './stored-message.ts';

/**
 * Turns input and response into messages in one statement, built from each table's own file, and commits with it if
 * nothing is left to do: a person is waiting for the first token. The transaction's last work. Inputs that are
 * delivered together become adjacent messages with one answer.
 */
export async function applyInput(
  trx: Queryable,
  chat: LockedChat,
  first: InputRow,
  override: Decision,
  maker: Maker,
): Promise<ResponseRow> {
  const { parent_given: isGiven, taken_by: takenBy, assistant_id: assistantId } = first;
  const branchId = isGiven && takenBy === null ? first.parent_id : chat.active_message_id;
  const { input, parentId, admitted } = await applyNeighbours(trx, chat, first, branchId);
  const parts = parseStoredParts(input.parts);
  const user = { id: input.id, chatId: chat.id, parentId, ...(await storeMessage('user', parts)) };
  const decision = overriddenBy(override, admitted);
  const title = chat.title_source === 'none' ? instantTitle(parts) : undefined;
  const statement = sql<ResponseRow>`
    with applied as (${applying(input.id, fitting(user))}),
    exchange as (${insertingExchange(user, assistantId, sql`exists (select from applied)`)}),
    shown as (${showingMessage(chat.id, assistantId, title, sql`exists (select from exchange)`)})
    insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision)
    select ${assistantId}, ${chat.id}, ${input.id}, ${chat.owner_id}, 'running', ${maker.replica},
      ${leaseUntil(maker)}, ${JSON.stringify(decision)}::jsonb
    from applied where exists (select from exchange)
    returning *`;
  const pin = newPin(chat, decision);
  const [response] = pin === undefined ? await lastly(trx, bound(trx, statement)) : (await statement.execute(trx)).rows;
  // No row: the input was canceled concurrently, and nothing was written.
  if (response === undefined) throw cancelled();
  if (pin !== undefined) await pinModel(trx, chat.id, pin.modelId);
  return response;
}

/** Applies all inputs delivered with `first` except the last; usually `first` is the only one. */
async function applyNeighbours(trx: Queryable, chat: LockedChat, first: InputRow, branchId: string | null) {
  const together = [first, ...(await takenWith(trx, first))];
  const input = together.at(-1) ?? first;
  const others = together.slice(0, -1);
  let parentId = branchId;
  for (const { id, parts } of others) {
    const stored = await storeMessage('user', parseStoredParts(parts));
    await insertUserMessage(trx, { id, chatId: chat.id, parentId, ...stored });
    parentId = id;
  }
  if (others.length > 0) await answerTogether(trx, together);
  return {
    input,
    parentId,
    admitted: together.map(({ decision }) => decision).reduce((all, one) => overriddenBy(one, all)),
  };
}
