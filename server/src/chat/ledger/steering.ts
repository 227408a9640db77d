import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { inTransaction, type Queryable } from '../../db/pool.ts';
import type { Platform } from '../../platform.ts';
import { projectArchivedColumn } from '../../projects/projects.ts';
import { notify } from '../log/signals.ts';
import { dismissQuestions } from './approvals.ts';
import { findChatInput, type InputRow } from './inputs.ts';
import type { ResponseRow } from './response-start.ts';

/**
 * Inputs that go to the running answer (contract.md section 11): after the results of a step the answer ends, and the
 * next one begins with them, as messages of the same branch. If the answer ends first, they are the next inputs.
 */

/**
 * Puts a queued input before the others, after inputs that were steered earlier, and closes the open questions to the
 * person. Throws `input_applied` if it is no longer queued. The caller has checked the owner of the conversation.
 */
export async function steerInput(deps: Pick<Platform, 'db'>, chatId: string, id: string): Promise<InputRow> {
  return inTransaction(deps.db, async (trx) => {
    // One at a time, so that the ranks follow the order of the requests.
    await trx.selectFrom('chats').select('id').where('id', '=', chatId).forNoKeyUpdate().execute();
    const { rows } = await sql<InputRow>`
      update inputs set start_after = least(start_after, now()), steer_rank = coalesce(steer_rank, (
        select coalesce(max(q.steer_rank), 0) + 1 from inputs q where q.chat_id = ${chatId} and q.state = 'queued'))
      where id = ${id} and chat_id = ${chatId} and state = 'queued' returning *`.execute(trx);
    const [input] = rows;
    if (input === undefined) throw waitsNoMore(await findChatInput(trx, chatId, id));
    await dismissQuestions(trx, chatId);
    await notify(trx, 'input', [chatId]);
    return input;
  });
}

function waitsNoMore(input: InputRow | undefined): ApiError {
  if (input === undefined) return new ApiError('not_found', 'Input not found');
  const what = input.state === 'cancelled' ? 'was cancelled' : 'has already been applied';
  return new ApiError('input_applied', `This input ${what}`);
}

/**
 * Takes the inputs to deliver now. True when there are any, and the answer has to end for them. From then on they
 * cannot be canceled. A replica that lost its lease takes nothing.
 */
export async function takeSteered(db: Queryable, response: Pick<ResponseRow, 'id' | 'generation'>): Promise<boolean> {
  const { rows } = await sql`
    update inputs i set taken_by = r.id from responses r join chats c on c.id = r.chat_id
    where r.id = ${response.id} and r.generation = ${response.generation} and r.state = 'running'
      and i.chat_id = r.chat_id and i.state = 'queued' and i.steer_rank is not null
      and not ${sql.raw(projectArchivedColumn('c.project_id'))}
    returning i.id`.execute(db);
  return rows.length > 0;
}

/**
 * Returns the inputs that are delivered together with this one, in their order. The caller has locked the conversation.
 */
export async function takenWith(trx: Queryable, input: InputRow): Promise<InputRow[]> {
  if (input.taken_by === null) return [];
  return trx
    .selectFrom('inputs')
    .selectAll()
    .where('chat_id', '=', input.chat_id)
    .where('state', '=', 'queued')
    .where('taken_by', '=', input.taken_by)
    .where('id', '!=', input.id)
    .orderBy('steer_rank')
    .forUpdate()
    .execute();
}

/** Applies all of these inputs but the last: the answer to the first of them answers all. */
export async function answerTogether(trx: Queryable, inputs: readonly InputRow[]): Promise<void> {
  const [first, ...rest] = inputs;
  const last = inputs.at(-1);
  if (first === undefined || last === undefined) return;
  const ids = rest.map(({ id }) => id);
  await trx.updateTable('inputs').set({ answered_by: first.assistant_id }).where('id', 'in', ids).execute();
  const applied = inputs.slice(0, -1).map(({ id }) => id);
  await trx.updateTable('inputs').set({ state: 'applied', parts: '[]' }).where('id', 'in', applied).execute();
}
