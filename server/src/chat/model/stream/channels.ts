import type { AnswerSink } from './think-tags.ts';

/**
 * The channels of gpt-oss (openai/harmony), which some servers pass on: `<|start|>assistant<|channel|>analysis<|message|>`
 * begins a message, and `<|end|>`, `<|return|>` or `<|call|>` ends it.
 */

const tokens = ['<|start|>', '<|channel|>', '<|message|>', '<|constrain|>', '<|end|>', '<|return|>', '<|call|>'];
const ends = new Set(['<|end|>', '<|return|>', '<|call|>']);
const opening = /^\s{0,64}(?:<\|start\|>(?:assistant)?)?<\|channel\|>/;
/** Servers that cut the first token off leave the name of the channel. */
const bareOpening = /^\s{0,64}(?:analysis|commentary|final)<\|message\|>/;
const openings = ['<|start|>assistant<|channel|>', '<|channel|>', 'analysis<|message|>', 'commentary<|message|>'];
const longestHeader = 200;
const longestToken = Math.max(...tokens.map(({ length }) => length));

/** True if the content begins with a channel; undefined if its next characters decide. */
export function beginsChannel(content: string): boolean | undefined {
  if (opening.test(content) || bareOpening.test(content)) return true;
  const start = content.trimStart();
  const isOpen = [...openings, 'final<|message|>'].some((each) => start.length < each.length && each.startsWith(start));
  return isOpen ? undefined : false;
}

/** Splits the messages of channels: the analysis and calls are reasoning, everything else is text. */
export function createChannelSplitter(sink: AnswerSink) {
  let held = '';
  /** The header so far; undefined within the content of a message. */
  let header: string | undefined = '';
  let isReasoning = false;
  let hasText = false;

  function pass(content: string): void {
    if (header !== undefined) {
      header += content;
      // That was no header.
      if (header.length > longestHeader) endHeader(header);
      return;
    }
    const text = isReasoning || hasText ? content : content.trimStart();
    if (text === '') return;
    if (isReasoning) sink.reasoning(text);
    else {
      hasText = true;
      sink.text(text);
    }
  }

  function endHeader(rest: string): void {
    const given = header ?? '';
    // A message with a recipient is a call.
    isReasoning = rest === '' && /analysis|\bto=/.test(given);
    header = undefined;
    if (rest !== '') pass(rest);
  }

  function readToken(token: string): void {
    if (token === '<|message|>') endHeader('');
    else if (ends.has(token) || token === '<|start|>' || token === '<|channel|>') header = '';
  }

  return {
    push(content: string): void {
      let all = held + content;
      held = '';
      for (let at = all.indexOf('<|'); at !== -1; at = all.indexOf('<|', at + 1)) {
        const token = tokens.find((each) => all.startsWith(each, at));
        if (token === undefined) continue;
        pass(all.slice(0, at));
        readToken(token);
        all = all.slice(at + token.length);
        at = -1;
      }
      const cut = cutLength(all);
      held = all.slice(all.length - cut);
      pass(all.slice(0, all.length - cut));
    },
    end(): void {
      if (header === undefined && held !== '') pass(held);
      held = '';
    },
  };
}

/** Length of the end of a text that could be the beginning of a token. */
function cutLength(text: string): number {
  const at = text.lastIndexOf('<', text.length - 1);
  if (at === -1 || text.length - at >= longestToken) return 0;
  return tokens.some((token) => token.startsWith(text.slice(at))) ? text.length - at : 0;
}
