import type { CompletionSink } from '../model/protocol.ts';

type Piece = (sink: CompletionSink) => void;

/**
 * Holds an answer back until `release`: text of it can turn out to be reasoning, which a stream can't take back any
 * more.
 */
export function holdAnswer(sink: CompletionSink): { sink: CompletionSink; release(): void } {
  const pieces: { text?: string; pass: Piece }[] = [];
  const add = (pass: Piece): void => void pieces.push({ pass });
  return {
    sink: {
      text: (text) => void pieces.push({ text, pass: (to) => to.text(text) }),
      reasoning: (text) => add((to) => to.reasoning(text)),
      textWasReasoning() {
        for (const piece of pieces) {
          const { text } = piece;
          if (text !== undefined) piece.pass = (to) => to.reasoning(text);
        }
      },
      toolStart: (call) => add((to) => to.toolStart(call)),
      toolDelta: (id, delta) => add((to) => to.toolDelta(id, delta)),
      state: (item) => add((to) => to.state?.(item)),
    },
    release: () => {
      for (const { pass } of pieces) pass(sink);
    },
  };
}
