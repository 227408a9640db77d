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
/** Marks that end reasoning which a template began before the answer. */
const loneMarks = marks.filter(({ before }) => before === undefined);
const maxLeadingSpace = 64;
const maxHeld = 80;

/** Receiver for the pieces of an answer. */
export type AnswerSink = {
  text(delta: string): void;
  reasoning(delta: string): void;
  /** All text of this answer so far was reasoning. */
  textWasReasoning?(text: string): void;
};

/**
 * Splits streamed content that begins with marked reasoning, such as `<think>…</think>`, into reasoning and text. Marks
 * can be split between deltas; an opening mark that does not begin the message is text. A closing mark without an
 * opening one makes reasoning of the text before it, except within code. `end` releases the text that is held back.
 */
export function createThinkSplitter(sink: AnswerSink) {
  let state: 'opening' | 'reasoning' | 'text' = 'opening';
  let mark = marks[0];
  let held = '';
  let skipSpace = false;
  let hasChannels = false;
  /** The text so far, while a closing mark can still come. */
  let said = '';
  let isWatching = true;

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
    isWatching = false;
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
      if (isWatching) watch(text);
      else if (text !== '') sink.text(text);
      return;
    }
    const all = held + text;
    const keep = Math.max(...endMarks.map((end) => (all.endsWith(end) ? end.length : cutMarkLength(all, end))));
    held = all.slice(all.length - keep);
    if (all.length > keep) sink.text(all.slice(0, all.length - keep));
  }

  function watch(text: string): void {
    if (held === '' && !text.includes('<') && !text.includes('[')) {
      pass(text);
      return;
    }
    const all = held + text;
    held = '';
    const [found] = loneMarks
      .map((each) => ({ ...each, at: all.indexOf(each.close) }))
      .filter(({ at }) => at !== -1)
      .sort((one, other) => one.at - other.at);
    if (found === undefined) {
      const keep = Math.max(...loneMarks.map(({ close }) => cutMarkLength(all, close)));
      held = all.slice(all.length - keep);
      pass(all.slice(0, all.length - keep));
      return;
    }
    pass(all.slice(0, found.at));
    const before = said;
    isWatching = false;
    said = '';
    if (before.includes(found.open) || isInCode(before)) {
      sink.text(all.slice(found.at));
      return;
    }
    if (before !== '') sink.textWasReasoning?.(before);
    skipSpace = true;
    pushText(all.slice(found.at + found.close.length));
  }

  function pass(text: string): void {
    if (text === '') return;
    said += text;
    sink.text(text);
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

/** True if the end of the text is in a fence or between backticks. */
function isInCode(text: string): boolean {
  let fence: string | undefined;
  const lines = text.split('\n');
  for (const line of lines) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark === undefined) continue;
    if (fence === undefined) fence = mark.slice(0, 3);
    else if (mark.startsWith(fence)) fence = undefined;
  }
  const ticks = (lines.at(-1) ?? '').split('`').length - 1;
  return fence !== undefined || ticks % 2 === 1;
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
