const openTag = '<think>';
const closeTag = '</think>';
const maxLeadingSpace = 64;

/** Receiver for the pieces of an answer. */
export type AnswerSink = { text(delta: string): void; reasoning(delta: string): void };

/**
 * Splits streamed content that begins with `<think>…</think>` into reasoning and text. Tags can be split between
 * deltas; a tag that does not begin the message is text. `end` releases the text that is held back.
 */
export function createThinkSplitter(sink: AnswerSink) {
  let state: 'opening' | 'reasoning' | 'text' = 'opening';
  let held = '';
  let skipSpace = false;

  function pushOpening(content: string): void {
    held += content;
    const start = held.trimStart();
    const undecided = start.length < openTag.length && openTag.startsWith(start);
    if (undecided && held.length - start.length <= maxLeadingSpace) return;
    const rest = held;
    held = '';
    if (!start.startsWith(openTag)) {
      state = 'text';
      sink.text(rest);
      return;
    }
    state = 'reasoning';
    skipSpace = true;
    pushReasoning(start.slice(openTag.length));
  }

  function pushReasoning(content: string): void {
    const all = withoutLeadingSpace(held + content);
    held = '';
    const close = all.indexOf(closeTag);
    if (close === -1) {
      const keep = cutTagLength(all);
      held = all.slice(all.length - keep);
      if (all.length > keep) sink.reasoning(all.slice(0, all.length - keep));
      return;
    }
    if (close > 0) sink.reasoning(all.slice(0, close));
    state = 'text';
    skipSpace = true;
    pushText(all.slice(close + closeTag.length));
  }

  function pushText(content: string): void {
    const text = skipSpace ? withoutLeadingSpace(content) : content;
    if (text !== '') sink.text(text);
  }

  function withoutLeadingSpace(content: string): string {
    if (!skipSpace) return content;
    const rest = content.trimStart();
    if (rest !== '') skipSpace = false;
    return rest;
  }

  return {
    push(content: string): void {
      if (state === 'text') pushText(content);
      else if (state === 'opening') pushOpening(content);
      else pushReasoning(content);
    },
    end(): void {
      if (held !== '') {
        if (state === 'reasoning') sink.reasoning(held);
        else sink.text(held);
      }
      held = '';
      state = 'text';
      skipSpace = false;
    },
  };
}

/** Length of the longest end of `text` that could be the beginning of the closing tag. */
function cutTagLength(text: string): number {
  for (let length = Math.min(closeTag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(closeTag.slice(0, length))) return length;
  }
  return 0;
}
