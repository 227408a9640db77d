import { ApiError } from '@homeport/contracts/errors';
import { storableText } from './storable-text.ts';
import type { AnswerSink } from './think-tags.ts';

/**
 * Buffer for text and reasoning on their way to the sink: adjacent pieces of one kind between two flushes are merged.
 */
export type AnswerGatherer = AnswerSink & {
  /** Counts what is kept of an answer; throws ApiError if it is too much. */
  count(length: number): void;
  /** Unescaped content may contain NUL or half a surrogate pair, whose other half comes next. */
  clean(content: string): string;
  /** Returns the first half of a surrogate pair that was never completed. */
  takeHalf(): string;
  readonly hasHalf: boolean;
  flush(): void;
};

export function createAnswerGatherer(sink: AnswerSink, maxTextLength: number): AnswerGatherer {
  let kind: 'text' | 'reasoning' = 'text';
  let gathered = '';
  let halfPair = '';
  let length = 0;

  function gather(next: 'text' | 'reasoning', delta: string): void {
    if (next !== kind) {
      flush();
      kind = next;
    }
    gathered += delta;
  }

  function flush(): void {
    if (gathered === '') return;
    const delta = gathered;
    gathered = '';
    if (kind === 'text') sink.text(delta);
    else sink.reasoning(delta);
  }

  return {
    text: (delta) => gather('text', delta),
    reasoning: (delta) => gather('reasoning', delta),
    textWasReasoning(text) {
      flush();
      sink.textWasReasoning?.(text);
    },
    count(more) {
      length += more;
      if (length > maxTextLength) throw new ApiError('answer_too_long', 'The model’s answer is too long.');
    },
    clean(content) {
      const whole = halfPair + content;
      halfPair = '';
      const last = whole.charCodeAt(whole.length - 1);
      if (last >= 0xd800 && last <= 0xdbff) {
        halfPair = whole.slice(-1);
        return storableText(whole.slice(0, -1));
      }
      return storableText(whole);
    },
    takeHalf() {
      const half = storableText(halfPair);
      halfPair = '';
      return half;
    },
    get hasHalf() {
      return halfPair !== '';
    },
    flush,
  };
}
