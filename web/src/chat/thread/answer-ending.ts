import type { Message } from '@homeport/contracts/chat/conversations';
import type { TextId } from '../../i18n/i18n.ts';

/** How an answer ended when it is not a plain end: a text, the maker's explanation, and whether it can be continued. */
export type AnswerEnding = { text: TextId; detail: string | undefined; canContinue: boolean };

const endings: Readonly<Record<string, { text: TextId; canContinue: boolean }>> = {
  length: { text: 'message.endLength', canContinue: true },
  content_filter: { text: 'message.endFiltered', canContinue: false },
  refusal: { text: 'message.endRefusal', canContinue: false },
  reasoning_only: { text: 'message.endReasoning', canContinue: false },
};

const maxDetail = 2_000;

/** Reads `finishReason` and `finishDetail` of a message; undefined for an answer that ended as it should. */
export function endingOf(message: Message): AnswerEnding | undefined {
  const reason: unknown = Reflect.get(message, 'finishReason');
  const detail: unknown = Reflect.get(message, 'finishDetail');
  const ending = typeof reason === 'string' && Object.hasOwn(endings, reason) ? endings[reason] : undefined;
  if (ending === undefined) return undefined;
  return { ...ending, detail: typeof detail === 'string' && detail !== '' ? detail.slice(0, maxDetail) : undefined };
}
