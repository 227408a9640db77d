import { beginsChannel, createChannelSplitter } from './channels.ts';

/** Marks around reasoning in an answer's content, as models and templates write them. */
const marks: readonly { open: string; close: string }[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '<thought>', close: '</thought>' },
  { open: '<reasoning>', close: '</reasoning>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '\u25c1think\u25b7', close: '\u25c1/think\u25b7' },
  { open: '<|channel>thought', close: '<channel|>' },
  { open: '<|begin_of_thought|>', close: '<|end_of_thought|>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
];
/** Marks that models also write between parts of an answer. The others are words that an answer can use as tags. */
const laterMarks = marks.filter(({ open }) => ['<think>', '<thinking>', '[THINK]'].includes(open));
const markPattern =
  /<\/?think(?:ing)?>|<\/(?:thought|reasoning|seed:think)>|\[\/?THINK\]|\u25c1\/think\u25b7|<channel\|>|<\|(?:end_of_thought|END_THINKING)\|>|assistantfinal/g;
/** The marks of channels without their brackets, where a server cuts off its special tokens. */
const bareChannel = { open: 'analysis', close: 'assistantfinal' };
const loneMarks = [...marks, bareChannel];
/** Later marks than these are text. */
const maxThoughts = 64;
const maxLeadingSpace = 64;

/** Receiver for the pieces of an answer. */
export type AnswerSink = {
  text(delta: string): void;
  reasoning(delta: string): void;
  /** All text of this answer so far was reasoning. */
  textWasReasoning?(text: string): void;
};

/**
 * Splits streamed content with marked reasoning, such as `<think>…</think>`, into reasoning and text. Marks can be split
 * between deltas. An opening mark counts at the beginning of the message or of a line, and a closing mark without an
 * opening one makes reasoning of the text before it; neither counts within code. `end` releases the text held back.
 */
export function createThinkSplitter(sink: AnswerSink) {
  let state: 'opening' | 'reasoning' | 'text' | 'channels' = 'opening';
  let mark = marks[0];
  let held = '';
  let skipSpace = false;
  /** The text so far, while a closing mark without an opening one can still come. */
  let said = '';
  /** Its first characters, since comparing them in a text that grows costs its length. */
  let start = '';
  let canClose = true;
  let hasText = false;
  let thoughts = 0;
  let isLineStart = true;
  const code = createCodeTracker();
  const channels = createChannelSplitter(sink);

  function pushOpening(content: string): void {
    held += content;
    const start = held.trimStart();
    const isChannel = beginsChannel(start);
    const isOpen = marks.some(({ open }) => start.length < open.length && open.startsWith(start));
    if ((isOpen || isChannel === undefined) && held.length - start.length <= maxLeadingSpace) return;
    const rest = held;
    held = '';
    mark = marks.find(({ open }) => start.startsWith(open));
    if (mark !== undefined) {
      beginReasoning(start.slice(mark.open.length));
    } else if (isChannel === true) {
      state = 'channels';
      channels.push(start);
    } else {
      state = 'text';
      pushText(rest);
    }
  }

  function beginReasoning(rest: string): void {
    state = 'reasoning';
    thoughts++;
    canClose = false;
    said = '';
    skipSpace = true;
    pushReasoning(rest);
  }

  function pushReasoning(content: string): void {
    const all = withoutLeadingSpace(held + content);
    held = '';
    const { close } = mark ?? { close: '</think>' };
    const at = all.indexOf(close);
    if (at === -1) {
      const keep = cutMarkLength(all, close);
      held = all.slice(all.length - keep);
      if (all.length > keep) sink.reasoning(all.slice(0, all.length - keep));
      return;
    }
    const thought = all.slice(0, at);
    if (thought !== '') sink.reasoning(thought);
    state = 'text';
    skipSpace = !hasText;
    pushText(all.slice(at + close.length));
  }

  function pushText(content: string): void {
    watch(skipSpace ? withoutLeadingSpace(content) : content);
  }

  function watch(text: string): void {
    const isBare = canClose && (start === '' ? text : start).startsWith(bareChannel.open);
    if (held === '' && !isBare && !/[<[\u25c1]/.test(text)) {
      pass(text);
      return;
    }
    const all = held + text;
    held = '';
    let done = 0;
    for (const { 0: found, index } of all.matchAll(markPattern)) {
      const later = laterMarks.find(({ open }) => open === found);
      const beginsLine = index === 0 ? isLineStart : all[index - 1] === '\n';
      if (!(later === undefined ? canClose : beginsLine && thoughts < maxThoughts)) continue;
      pass(all.slice(done, index));
      done = index;
      if (later === undefined && !closes(found)) continue;
      if (code.isInCode()) continue;
      mark = later;
      const rest = all.slice(index + found.length);
      if (later === undefined) endReasoning(rest);
      else beginReasoning(rest);
      return;
    }
    const left = all.slice(done);
    const keep = cutLength(left);
    held = left.slice(left.length - keep);
    pass(left.slice(0, left.length - keep));
  }

  /** A closing mark counts once, and not if the text has its opening one. */
  function closes(close: string): boolean {
    const opened = loneMarks.find((each) => each.close === close);
    if (opened === bareChannel && !start.startsWith(bareChannel.open)) return false;
    const isLone = opened !== undefined && (opened === bareChannel || !said.includes(opened.open));
    canClose = false;
    if (!isLone) said = '';
    return isLone;
  }

  /** The text so far was reasoning that a template began. */
  function endReasoning(rest: string): void {
    if (said !== '') sink.textWasReasoning?.(said);
    said = '';
    code.clear();
    isLineStart = true;
    skipSpace = true;
    pushText(rest);
  }

  /** Length of the end of the text that could be the beginning of a mark. */
  function cutLength(all: string): number {
    const closing = canClose ? loneMarks.map(({ close }) => cutMarkLength(all, close)) : [];
    const line = all.slice(all.lastIndexOf('\n') + 1);
    const canOpen = line.length < all.length || isLineStart;
    const isOpening = canOpen && laterMarks.some(({ open }) => line !== open && open.startsWith(line));
    return Math.max(0, isOpening ? line.length : 0, ...closing);
  }

  function pass(text: string): void {
    if (text === '') return;
    if (canClose) said += text;
    if (start.length < bareChannel.open.length) start += text.slice(0, bareChannel.open.length);
    hasText = true;
    code.add(text);
    isLineStart = text.endsWith('\n');
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
      else if (state === 'channels') channels.push(content);
      else pushReasoning(content);
    },
    end(): void {
      if (state === 'channels') {
        channels.end();
        return;
      }
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

/** Tells whether the text so far ends in a fence or between backticks. Each character is read once, when asked. */
function createCodeTracker() {
  let unread = '';
  let line = '';
  let fence: string | undefined;

  function endLine(): void {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && fence === undefined) fence = mark.slice(0, 3);
    else if (mark !== undefined && fence !== undefined && mark.startsWith(fence)) fence = undefined;
    line = '';
  }

  return {
    add(text: string): void {
      unread += text;
    },
    clear(): void {
      unread = '';
      line = '';
      fence = undefined;
    },
    isInCode(): boolean {
      const lines = unread.split('\n');
      unread = '';
      for (const [at, text] of lines.entries()) {
        if (at > 0) endLine();
        line += text;
      }
      return fence !== undefined || line.split('`').length % 2 === 0;
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
