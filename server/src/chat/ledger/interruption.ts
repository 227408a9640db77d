import type { Frame, MessagePart } from '@homeport/contracts/chat/frames';
import { createMessageAssembler, finishParts, type MessageAssembler } from '@homeport/contracts/chat/message-assembly';
import { sql } from 'kysely';
import { readParts } from '../../conversations/messages.ts';
import { inTransaction } from '../../db/pool.ts';
import type { Platform } from '../../platform.ts';
import { parseLines } from '../log/frame-sequence.ts';
import { plainEnd } from '../turn/answer-end.ts';
import { waitingCalls } from '../turn/waiting-calls.ts';
import { dropQuestionsBut } from './approvals.ts';
import { interruptedCall, type LoggedStep } from './interrupted-call.ts';
import { endLocked } from './response-end.ts';
import type { ResponseRow } from './response-start.ts';

/** Ends responses that their replica abandoned, with what it had stored. */

export const interruptedError = {
  code: 'interrupted',
  message: 'The answer was interrupted because the service stopped. Continue it, or ask again.',
};

/**
 * Ends abandoned responses as `interrupted`: those whose lease has expired. `orphans` means all running ones, when an
 * installation with a single replica starts; `but` is what the caller still holds. Resolves with the conversations
 * concerned; one failure does not block the others, and is thrown at the end.
 */
export async function interruptExpired(
  deps: Pick<Platform, 'db'>,
  where: { chatId?: string; orphans?: boolean; but?: readonly string[] } = {},
): Promise<string[]> {
  const orphans = where.orphans === true;
  let query = deps.db.kysely
    .selectFrom('responses')
    .select(['id', 'chat_id', 'owner_id', 'generation', 'first_seq'])
    .where('state', '=', 'running');
  if (!orphans) query = query.where('lease_until', '<', sql<Date>`now()`);
  if (where.chatId !== undefined) query = query.where('chat_id', '=', where.chatId);
  const but = where.but ?? [];
  if (but.length > 0) query = query.where(sql<boolean>`id <> all (${but}::text[])`);
  const expired = await query.execute();
  const failures: unknown[] = [];
  for (const response of expired) {
    await interruptFromLog(deps, response, orphans).catch((error) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
  return expired.map((response) => response.chat_id);
}

type Interruptible = Pick<ResponseRow, 'id' | 'chat_id' | 'owner_id' | 'generation' | 'first_seq'>;

async function interruptFromLog(deps: Pick<Platform, 'db'>, response: Interruptible, orphan: boolean): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    await trx.selectFrom('chats').select('id').where('id', '=', response.chat_id).forNoKeyUpdate().execute();
    const still = await trx
      .selectFrom('responses')
      .select('id')
      .where('id', '=', response.id)
      .where('generation', '=', response.generation)
      .where('state', '=', 'running')
      .where(orphan ? sql<boolean>`true` : sql<boolean>`lease_until < now()`)
      .forUpdate()
      .executeTakeFirst();
    if (still === undefined) return;
    const rows = await trx
      .selectFrom('response_frames')
      .select(['seq_to', 'frames'])
      .where('response_id', '=', response.id)
      .where('generation', '=', response.generation)
      .orderBy('seq_from')
      .execute();
    const logged = rows.length === 0 ? undefined : assemble(rows);
    const parts = finishParts(logged?.last.parts ?? (await readParts(trx, response.id)), { keepsApprovals: true });
    // A question missing from the answer because of the crash cannot be answered, so it is asked again.
    await dropQuestionsBut(
      trx,
      response.id,
      waitingCalls(parts).map(({ asked }) => asked.approvalId),
    );
    await endLocked(deps, trx, response, {
      state: 'interrupted',
      parts,
      error: interruptedError,
      finish: plainEnd('error'),
      frames: [...(logged?.assembler.closingFrames({ keepsApprovals: true }) ?? []), ...interruptedFrames()],
      seq: rows.at(-1)?.seq_to ?? response.first_seq,
      calls: logged === undefined ? [] : await interruptedCall(trx, response, logged.last),
    });
  });
}

function assemble(rows: readonly { frames: string }[]): { assembler: MessageAssembler; last: LoggedStep } {
  const assembler = createMessageAssembler();
  let step = 0;
  let before: readonly MessagePart[] = [];
  for (const row of rows) {
    for (const frame of parseLines(row.frames)) {
      if (frame.type === 'start-step' || frame.type === 'data-continued') {
        step++;
        before = assembler.parts;
      }
      assembler.apply(frame);
    }
  }
  return { assembler, last: { step, before, parts: assembler.parts } };
}

/** The frames that end an interrupted response. */
function interruptedFrames(): Frame[] {
  return [
    { type: 'error', errorText: interruptedError.message },
    {
      type: 'finish',
      finishReason: 'error',
      messageMetadata: { status: 'interrupted', error: interruptedError, finishReason: 'error', finishDetail: null },
    },
  ];
}
