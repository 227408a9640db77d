import type { MessageFinishReason } from '@homeport/contracts/chat/finish-reasons';
import type { FinishReason } from '@homeport/contracts/chat/frames';
import type { CompletionResult } from '../model/protocol.ts';

/** How an answer ended, with the maker's explanation. */
export type AnswerEnd = { reason: MessageFinishReason; detail: string | null };

const reasons: Readonly<Record<FinishReason, MessageFinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  error: 'error',
  other: 'other',
};

/** The end of a turn that the given reason ended. */
export function plainEnd(reason: FinishReason): AnswerEnd {
  return { reason: reasons[reason], detail: null };
}

/** The end of a turn whose last answer has these texts. */
export function endOf(
  { finishReason, isRefusal, finishDetail }: CompletionResult,
  written: { text: string; reasoning: string; pictureCount?: number },
): AnswerEnd {
  const detail = finishDetail ?? null;
  if (isRefusal === true) return { reason: 'refusal', detail };
  const reason = reasons[finishReason];
  const isEmpty = written.text.trim() === '' && (written.pictureCount ?? 0) === 0;
  const hasOnlyThoughts = isEmpty && written.reasoning.trim() !== '';
  if (hasOnlyThoughts && reason !== 'content_filter') return { reason: 'reasoning_only', detail };
  return { reason, detail };
}
