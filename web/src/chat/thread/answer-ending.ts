import type { Message } from '@homeport/contracts/chat/conversations';
import type { MessageFinishReason } from '@homeport/contracts/chat/finish-reasons';
import type { TextId } from '../../i18n/i18n.ts';

/** How an answer ended when it is not a plain end: a text, the maker's explanation, and whether it can be continued. */
export type AnswerEnding = { text: TextId; detail: string | undefined; canContinue: boolean };

const endings: Partial<Record<MessageFinishReason, { text: TextId; canContinue: boolean }>> = {
  length: { text: 'message.endLength', canContinue: true },
  content_filter: { text: 'message.endFiltered', canContinue: false },
  refusal: { text: 'message.endRefusal', canContinue: false },
  reasoning_only: { text: 'message.endReasoning', canContinue: false },
};

/** The ending of a message; undefined for an answer that ended as it should. */
export function endingOf({ finishReason, finishDetail, parts }: Message): AnswerEnding | undefined {
  const ending = finishReason === null ? undefined : endings[finishReason];
  if (ending === undefined) return undefined;
  const detail = finishDetail?.trim() ?? '';
  // A refusal can be the answer's own text.
  const isShown = detail === '' || parts.some((part) => part.type === 'text' && part.text.includes(detail));
  return { ...ending, detail: isShown ? undefined : detail };
}

/** True for an answer whose ending is shown with a button to regenerate it. */
export function hasRegenerate(message: Message, isEmpty: boolean): boolean {
  const { status } = message;
  if (status === 'failed' || (isEmpty && status !== 'streaming')) return true;
  return status === 'complete' && endingOf(message)?.canContinue === false;
}
