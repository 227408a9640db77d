import { randomUUIDv7 } from 'node:crypto';
import type { GivenAnswers } from '@homeport/contracts/chat/agent';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { type RawBuilder, sql } from 'kysely';
import type { AuditSource } from '../../audit/audit.ts';
import { mayPass } from '../../db/failures.ts';
import { inTransaction, type Queryable } from '../../db/pool.ts';
import type { Platform } from '../../platform.ts';
import { notify, type SignalListener } from '../log/signals.ts';
import { readAnswers } from '../tools/ask-tool.ts';
import { type CallDecision, declined, type QuestionedCall } from '../tools/call-run.ts';
import { rememberRule, ruleOf } from '../tools/rules/tool-rules.ts';
import type { ResponseRow } from './response-start.ts';

/**
 * Questions to a person before a tool runs, and their answers (contract.md section 6). Only this file writes
 * `tool_approvals`. An answer is stored before anything acts on it, and acting on it settles it first: no tool runs
 * twice, whenever something crashes.
 */

type Asking = Pick<ResponseRow, 'id' | 'chat_id' | 'generation'>;

/** Stores a running response's question; returns its id. Throws if another replica has the response now. */
export async function insertApproval(db: Queryable, response: Asking, call: QuestionedCall): Promise<string> {
  const id = randomUUIDv7();
  const { questions } = call;
  const rule = questions === undefined ? ruleOf(call.toolName, call.input) : undefined;
  const { rows } = await sql`
    insert into tool_approvals (id, response_id, chat_id, tool_call_id, tool_name, questions, rule, live)
    select ${id}, r.id, r.chat_id, ${call.toolCallId}, ${call.toolName},
      ${questions === undefined ? null : JSON.stringify(questions)}::jsonb,
      ${rule === undefined ? null : JSON.stringify(rule)}::jsonb, ${call.isLive === true} from responses r
    where r.id = ${response.id} and r.generation = ${response.generation} and r.state = 'running'
    returning id`.execute(db);
  if (rows.length === 0) throw new Error('Another replica makes this response');
  return id;
}

/** How often the answer is looked for without a signal. */
const pollMs = 2_000;

/** Waits for the answer and settles it, so that it is handed out once. Rejects with the signal's reason. */
export async function waitForDecision(
  deps: Pick<Platform, 'db' | 'clock'> & { signals: SignalListener },
  response: Asking,
  approvalId: string,
  signal: AbortSignal,
): Promise<CallDecision> {
  for (;;) {
    const notified = new AbortController();
    const leave = deps.signals.on((received) => {
      if (received.kind === 'approval' && received.ids.includes(response.id)) notified.abort();
    });
    const onAbort = (): void => notified.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      const decision = await settle(deps.db.kysely, response, approvalId).catch((error) => {
        if (!mayPass(error)) throw error;
        return undefined;
      });
      if (decision !== undefined) return decision;
      await deps.clock.sleep(pollMs, notified.signal).catch(() => undefined);
    } finally {
      leave();
      signal.removeEventListener('abort', onAbort);
    }
  }
}

/** Undefined while there is no answer. A replica that lost the response settles nothing. */
async function settle(db: Queryable, response: Asking, approvalId: string): Promise<CallDecision | undefined> {
  const { rows } = await sql<{ approved: boolean; reason: string | null; answers: string[][] | null }>`
    update tool_approvals a set settled_at = now() from responses r
    where a.id = ${approvalId} and a.response_id = ${response.id} and a.answered_at is not null and a.settled_at is null
      and r.id = a.response_id and r.generation = ${response.generation} and r.state = 'running'
    returning a.approved, a.reason, a.answers`.execute(db);
  const row = rows[0];
  if (row !== undefined) {
    return { approved: row.approved, reason: row.reason ?? undefined, answers: row.answers ?? undefined };
  }
  const open = await db
    .selectFrom('tool_approvals')
    .select('id')
    .where('id', '=', approvalId)
    .where('response_id', '=', response.id)
    .where('settled_at', 'is', null)
    .executeTakeFirst();
  return open === undefined ? 'lost' : undefined;
}

/** Closes one question of a running response, answered or not, so that it cannot continue the response later. */
export async function dropApproval(db: Queryable, response: Asking, approvalId: string): Promise<void> {
  await sql`
    update tool_approvals a set settled_at = now() from responses r
    where a.id = ${approvalId} and a.response_id = ${response.id} and a.settled_at is null
      and r.id = a.response_id and r.generation = ${response.generation} and r.state = 'running'`.execute(db);
}

/** Closes the questions of a response but these. */
export async function dropQuestionsBut(db: Queryable, responseId: string, keptIds: readonly string[]): Promise<void> {
  await sql`update tool_approvals set settled_at = now()
    where response_id = ${responseId} and settled_at is null and id <> all (${keptIds}::text[])`.execute(db);
}

/** The statement that drops all questions of a response that ended for good, if `condition` holds. */
export function voidingApprovals(responseId: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update tool_approvals set settled_at = now()
    where response_id = ${responseId} and settled_at is null and ${condition}`;
}

export type Answer = {
  approvalId: string;
  approved: boolean;
  reason?: string;
  remember?: 'conversation' | 'person';
};

/**
 * Stores a person's answer, once. Resolves with whether the response is running; an interrupted one continues with it
 * (`findAnswered`). Throws `not_found` for someone else's question, `input_applied` if it was answered or nothing waits
 * for it any more.
 */
export async function answerApproval(
  deps: Pick<Platform, 'db'>,
  owner: string,
  chatId: string,
  { approvalId, approved, reason, remember }: Answer,
  by: AuditSource,
): Promise<{ isRunning: boolean }> {
  return inTransaction(deps.db, async (trx) => {
    const asked = await openQuestion(trx, owner, chatId, approvalId);
    if (asked.questions !== null) throw questionNotFound();
    assertOpen(asked);
    const answered_at = sql<Date>`now()`;
    const values = { approved, reason: reason === '' ? null : (reason ?? null), answered_at };
    await trx.updateTable('tool_approvals').set(values).where('id', '=', approvalId).execute();
    if (approved && remember !== undefined) {
      if (asked.rule === null) throw cannotBeRemembered();
      await rememberRule(trx, remember === 'conversation' ? { chatId } : { userId: owner }, asked.rule, by);
    }
    await notifyAnswered(trx, chatId, asked);
    return asked;
  });
}

/**
 * Stores the answers to the questions of `ask`, in the same way. Throws `invalid_request` for answers to other
 * questions.
 */
export async function answerQuestion(
  deps: Pick<Platform, 'db'>,
  owner: string,
  chatId: string,
  { questionId, answers, action }: { questionId: string; answers: GivenAnswers; action?: 'accept' | 'decline' },
): Promise<{ isRunning: boolean }> {
  return inTransaction(deps.db, async (trx) => {
    const asked = await openQuestion(trx, owner, chatId, questionId);
    if (asked.questions === null) throw questionNotFound();
    if (action === 'decline' && !asked.live) throw notDeclined();
    const read = action === 'decline' ? undefined : readAnswers(asked.questions, answers);
    assertOpen(asked);
    const answered_at = sql<Date>`now()`;
    const values =
      read === undefined
        ? { approved: false, reason: declined, answered_at }
        : { approved: true, answers: JSON.stringify(read), answered_at };
    await trx.updateTable('tool_approvals').set(values).where('id', '=', questionId).execute();
    await notifyAnswered(trx, chatId, asked);
    return asked;
  });
}

/** Ends the wait for answers in a conversation: the person has sent a message now instead. The caller has locked it. */
export async function dismissQuestions(trx: Queryable, chatId: string): Promise<void> {
  const { rows } = await sql<{ response_id: string }>`
    update tool_approvals a set approved = false, answered_at = now() from responses r
    where a.chat_id = ${chatId} and a.questions is not null and a.answered_at is null and a.settled_at is null
      and r.id = a.response_id and r.state = 'running' returning a.response_id`.execute(trx);
  const ids = [...new Set(rows.map((row) => row.response_id))];
  if (ids.length > 0) await notify(trx, 'approval', ids);
}

type Open = Awaited<ReturnType<typeof openQuestion>>;

/** Returns an open question to the person, with the conversation locked. */
async function openQuestion(trx: Queryable, owner: string, chatId: string, id: string) {
  // The end of a response locks the same row, so it comes either before or after this.
  const chat = await trx
    .selectFrom('chats')
    .select(['id', 'active_message_id', 'archived'])
    .where('id', '=', chatId)
    .where('owner_id', '=', owner)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (chat === undefined) throw questionNotFound();
  const asked = await trx
    .selectFrom('tool_approvals as a')
    .innerJoin('responses as r', 'r.id', 'a.response_id')
    .select(['a.answered_at', 'a.settled_at', 'a.rule', 'a.questions', 'a.live', 'r.id as response_id', 'r.state'])
    .where('a.id', '=', id)
    .where('a.chat_id', '=', chatId)
    .executeTakeFirst();
  if (asked === undefined) throw questionNotFound();
  const isContinued =
    asked.state === 'interrupted' && !asked.live && chat.active_message_id === asked.response_id && !chat.archived;
  return { ...asked, isContinued, isRunning: asked.state === 'running' };
}

function assertOpen({ answered_at, settled_at, isRunning, isContinued }: Open): void {
  if (answered_at !== null) throw new ApiError('input_applied', 'This question has been answered');
  if (settled_at !== null || !(isRunning || isContinued)) {
    throw new ApiError('input_applied', 'This question no longer needs an answer');
  }
}

async function notifyAnswered(trx: Queryable, chatId: string, { isRunning, response_id: id }: Open): Promise<void> {
  if (isRunning) await notify(trx, 'approval', [id]);
  else await notify(trx, 'input', [chatId]);
}

function notDeclined(): ApiError {
  const message = 'Only what an MCP server asks can be declined';
  return new ApiError('invalid_request', message, { details: [{ path: 'action', message }] });
}

function cannotBeRemembered(): ApiError {
  const message = `Only a command of at most ${limits.toolPatternMax.toLocaleString('en')} characters can be allowed for good.`;
  return new ApiError('invalid_request', message, { details: [{ path: 'remember', message }] });
}

/** The same for a conversation that is not the caller's. */
function questionNotFound(): ApiError {
  return new ApiError('not_found', 'Question not found');
}

/** Conversations whose last response was interrupted while waiting and now has its answer, with enabled owners. */
export async function findAnswered(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await sql<{ chat_id: string }>`
    select distinct r.chat_id from tool_approvals a
    join responses r on r.id = a.response_id and r.state = 'interrupted'
    join chats c on c.id = r.chat_id and c.active_message_id = r.id and not c.archived
    join users u on u.id = r.owner_id and u.enabled
    where a.answered_at is not null and a.settled_at is null and not a.live
    limit ${limit}`.execute(db);
  return rows.map((row) => row.chat_id);
}
