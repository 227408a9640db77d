import type { Frame, MessageError, MessageMetadata, MessagePart, Usage } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import { databaseFailure, mayPass } from '../../db/failures.ts';
import { countCalls, type LedgerRow } from '../../usage/ledger.ts';
import { interruptedError } from '../ledger/interruption.ts';
import {
  type EndedResponse,
  type EndState,
  endResponse,
  parkedError,
  questionError,
  type ResponseEnd,
} from '../ledger/response-end.ts';
import type { ResponseRow } from '../ledger/response-start.ts';
import { isRecord } from '../model/stream/storable-text.ts';
import { type AnswerEnd, plainEnd } from '../turn/answer-end.ts';
import type { TurnResult } from '../turn/turn-loop.ts';
import { waitingCalls } from '../turn/waiting-calls.ts';
import { answerTooLong } from './answer-size.ts';
import { errorFrame, messageError } from './message-error.ts';
import type { RunDeps } from './run-deps.ts';

/** How a response that this replica made ends. */

/** Why a run was cut off: Stop, the service stopping, another replica having taken over, or the largest answer reached. */
export type Cut = 'stopped' | 'interrupted' | 'lost' | 'full';

/** A response's end, before it is stored. */
export type Ending = {
  state: EndState;
  error?: MessageError | undefined;
  /** The error for the request that began the response, if nothing came before it. */
  failure?: ApiError;
  result?: TurnResult;
};

const endRetryMs = 1_000;

/**
 * Ends the response in the database. While that is unavailable, the answer is kept and this is retried, however long it
 * takes, because people have seen it. If another replica has ended it meanwhile, this changes nothing.
 */
export async function endWithPatience(
  deps: RunDeps,
  response: ResponseRow,
  end: ResponseEnd,
): Promise<EndedResponse | undefined> {
  let keptBytes = 0;
  try {
    for (;;) {
      try {
        return await endResponse(deps, response, end);
      } catch (error) {
        if (!mayPass(error)) throw error;
        if (keptBytes === 0) {
          const bytes = sizeOf(end);
          if (!deps.responses.keep(bytes)) throw error;
          keptBytes = bytes;
        }
      }
      await deps.clock.sleep(endRetryMs);
    }
  } finally {
    deps.responses.keep(-keptBytes);
  }
}

/** Roughly the memory of a waiting answer. */
function sizeOf({ parts, pending }: ResponseEnd): number {
  return 1 + JSON.stringify(parts ?? []).length * 2 + (pending?.frames.length ?? 0);
}

/** Usage of all requests together, with the context tokens of the first and the last one. */
export function usageWithin(sum: Usage | undefined, result: TurnResult | undefined): Usage | undefined {
  if (sum === undefined || result === undefined) return sum;
  const { promptTokens = sum.inputTokens, contextTokens = sum.inputTokens + sum.outputTokens } = result;
  return {
    ...sum,
    ...(promptTokens === sum.inputTokens ? {} : { promptTokens }),
    ...(contextTokens === sum.inputTokens + sum.outputTokens ? {} : { contextTokens }),
  };
}

/** How the answer ended, for its message. */
export function finishOf({ state, result }: Ending): AnswerEnd {
  if (state === 'complete') return result?.end ?? plainEnd('tool-calls');
  if (state === 'failed' && result?.end.reason === 'error') return result.end;
  return plainEnd(state === 'stopped' ? 'other' : 'error');
}

/** The frames that end its stream. */
export function endFrames(ending: Ending, metadata: MessageMetadata): Frame[] {
  const finishReason = ending.state === 'complete' ? (ending.result?.finishReason ?? 'stop') : 'error';
  const finish: Frame = { type: 'finish', finishReason, messageMetadata: metadata };
  if (ending.state === 'stopped')
    return [
      { type: 'abort', reason: 'stopped' },
      { ...finish, finishReason: 'other' },
    ];
  return ending.error === undefined ? [finish] : [errorFrame(ending.error), finish];
}

/** True if the provider refused the first question of a turn because the conversation is too long. */
export function isTooLong({ outcome, steps, error }: TurnResult): boolean {
  const details = error?.code === 'provider_error' ? error.details : undefined;
  const reason = isRecord(details) ? details.reason : undefined;
  return outcome === 'failed' && steps === 0 && reason === 'context';
}

export function failedEnding(error: unknown): Ending {
  const failure = knownFailure(error);
  return { state: 'failed', error: messageError(failure), failure };
}

function knownFailure(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return (
    databaseFailure(error) ?? new ApiError('internal_error', 'Something went wrong on the server', { cause: error })
  );
}

/** Another replica has ended the response; requests made here still count, once. */
export async function countLost(deps: RunDeps, response: ResponseRow, calls: readonly LedgerRow[]): Promise<void> {
  await countCalls(deps.db.kysely, calls).catch((error) =>
    deps.log.warn(
      { cause: error, responseId: response.id },
      'failed to record the model calls of a response that another replica has taken over',
    ),
  );
}

type EndFacts = {
  state: EndState | 'lost';
  code: string | undefined;
  modelId: string | undefined;
  /** Of the whole answer, continued ones included. */
  usage: Usage | undefined;
  /** Of the requests that this run made. */
  counted: Usage | undefined;
  milliseconds: number;
};

/** Records the end in the metrics and the log. */
export function logEnd(deps: RunDeps, response: ResponseRow, { counted, ...facts }: EndFacts): void {
  deps.metrics.responseEnded(facts.state, counted);
  const { id: responseId, chat_id: chatId, owner_id: userId } = response;
  deps.log.info({ responseId, chatId, userId, ...facts }, 'response ended');
}

/** The end of a run that was cut off after `parts`. */
export function cutEnding(cut: Cut | undefined, parts: readonly MessagePart[]): Ending {
  if (cut === 'stopped') return { state: 'stopped' };
  if (cut === 'full') return failedEnding(answerTooLong());
  const [waiting] = waitingCalls(parts);
  if (waiting === undefined) return { state: 'interrupted', error: interruptedError };
  return { state: 'interrupted', error: waiting.asked.policy === 'ask' ? parkedError : questionError };
}
