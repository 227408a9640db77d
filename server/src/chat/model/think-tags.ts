/** Marks around reasoning in an answer's content, as models and templates write them. */
const marks: readonly { open: string; close: string; before?: RegExp }[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '<thought>', close: '</thought>' },
  { open: '<reasoning>', close: '</reasoning>' },
  { open: '[THINK]', close: '[/THINK]' },
  // The channels of gpt-oss, which some servers pass on.
  {
    open: '<|channel|>analysis<|message|>',
    close: '<|channel|>final<|message|>',
    before: /(?:<\|end\|>)?(?:<\|start\|>assistant)?$/,
  },
];
/** Marks of channels around an answer without reasoning, or after it. */
const emptyMarks = ['<|channel|>final<|message|>'];
const endMarks = ['<|return|>', '<|end|>'];
const maxLeadingSpace = 64;
const maxHeld = 80;

/** Receiver for the pieces of an answer. */
export type AnswerSink = { text(delta: string): void; reasoning(delta: string): void };

/**
 * Splits streamed content that begins with marked reasoning, such as `<think>…</think>`, into reasoning and text. Marks
 * can be split between deltas; a mark that does not begin the message is text. `end` releases the text that is held
 * back.
 */
export function createThinkSplitter(sink: AnswerSink) {
  let state: 'opening' | 'reasoning' | 'text' = 'opening';
  let mark = marks[0];
  let held = '';
  let skipSpace = false;
  let hasChannels = false;

  function pushOpening(content: string): void {
    held += content;
    const start = held.trimStart();
    const isUndecided = [...marks.map(({ open }) => open), ...emptyMarks].some(
      (open) => start.length < open.length && open.startsWith(start),
    );
    if (isUndecided && held.length - start.length <= maxLeadingSpace) return;
    const rest = held;
    held = '';
    mark = marks.find(({ open }) => start.startsWith(open));
    const empty = emptyMarks.find((open) => start.startsWith(open));
    hasChannels = mark?.before !== undefined || empty !== undefined;
    if (mark === undefined) {
      state = 'text';
      pushText(empty === undefined ? rest : start.slice(empty.length));
      return;
    }
    state = 'reasoning';
    skipSpace = true;
    pushReasoning(start.slice(mark.open.length));
  }

  function pushReasoning(content: string): void {
    const all = withoutLeadingSpace(held + content);
    held = '';
    const { close, before } = mark ?? { close: '</think>' };
    const at = all.indexOf(close);
    if (at === -1) {
      const keep = before === undefined ? cutMarkLength(all, close) : channelLength(all);
      held = all.slice(all.length - keep);
      if (all.length > keep) sink.reasoning(all.slice(0, all.length - keep));
      return;
    }
    const thought = all.slice(0, at).replace(before ?? '', '');
    if (thought !== '') sink.reasoning(thought);
    state = 'text';
    skipSpace = true;
    pushText(all.slice(at + close.length));
  }

  function pushText(content: string): void {
    const text = skipSpace ? withoutLeadingSpace(content) : content;
    if (!hasChannels) {
      if (text !== '') sink.text(text);
      return;
    }
    const all = held + text;
    const keep = Math.max(...endMarks.map((end) => (all.endsWith(end) ? end.length : cutMarkLength(all, end))));
    held = all.slice(all.length - keep);
    if (all.length > keep) sink.text(all.slice(0, all.length - keep));
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
      if (held !== '' && !(hasChannels && endMarks.includes(held))) {
        if (state === 'reasoning') sink.reasoning(held);
        else sink.text(held);
      }
      held = '';
      hasChannels = false;
      state = 'text';
      skipSpace = false;
    },
  };
}

/** Length of the longest end of `text` that could be the beginning of the closing mark. */
function cutMarkLength(text: string, close: string): number {
  for (let length = Math.min(close.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(close.slice(0, length))) return length;
  }
  return 0;
}

/** Length of an end that could be marks of channels: from the first `<` of the last characters. */
function channelLength(text: string): number {
  const at = text.indexOf('<', Math.max(0, text.length - maxHeld));
  return at === -1 ? 0 : text.length - at;
}
