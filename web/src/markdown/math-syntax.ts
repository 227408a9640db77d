import type { MarkedOptions, Tokens } from 'marked';

/** A formula; `isDisplay` for one that stands on a line of its own. Without its closing mark it is still text. */
export type MathToken = Tokens.Generic & { type: 'math'; text: string; isDisplay: boolean; isClosed: boolean };

const maximumFormula = 4_000;
const display = [
  { open: /^ {0,3}\$\$/, close: '$$' },
  { open: /^ {0,3}\\\[/, close: '\\]' },
] as const;

/**
 * A formula block goes from its mark to the closing one, to an empty line or to the end, whatever comes first. So what
 * arrives later never changes where it begins, and a text that streams in keeps its finished blocks.
 */
function blockMath(src: string): MathToken | undefined {
  for (const { open, close } of display) {
    const start = open.exec(src)?.[0];
    if (start === undefined) continue;
    const blank = /\n[ \t]*\n/.exec(src)?.index ?? src.length;
    const at = src.indexOf(close, start.length);
    if (at === -1 || at > blank) {
      return start.trim() === '$$' && src.slice(start.length, blank).trim() === '' && blank === src.length
        ? undefined
        : openMath(src.slice(0, blank));
    }
    const end = at + close.length;
    const rest = /^[ \t]*(?:\n|$)/.exec(src.slice(end))?.[0];
    // More on the same line: a formula inside of a paragraph.
    if (rest === undefined) return undefined;
    const raw = src.slice(0, end + rest.length);
    return { type: 'math', raw, text: src.slice(start.length, at).trim(), isDisplay: true, isClosed: true };
  }
  return undefined;
}

function openMath(raw: string): MathToken {
  return { type: 'math', raw, text: raw, isDisplay: true, isClosed: false };
}

const inline = [
  { pattern: /^\$\$((?:[^$\\\n]|\\[^\n]|\n(?!\s*\n)){1,4000}?)\$\$/, isDisplay: true },
  // As Pandoc has it: no space inside of the marks, no digit after them, so that prices stay prices.
  { pattern: /^\$(?![\s$])((?:[^$\\\n]|\\[^\n]){1,1000}?)(?<![\s\\])\$(?![\d$])/, isDisplay: false },
  { pattern: /^\\\(((?:[^\\\n]|\\(?![()])[^\n]){1,1000}?)\\\)/, isDisplay: false },
  { pattern: /^\\\[((?:[^\\\n]|\\(?![[\]])[^\n]){1,4000}?)\\\]/, isDisplay: true },
] as const;

function inlineMath(src: string): MathToken | undefined {
  for (const { pattern, isDisplay } of inline) {
    const [raw, text] = pattern.exec(src) ?? [];
    if (raw === undefined || text === undefined || text.length > maximumFormula) continue;
    return { type: 'math', raw, text: text.trim(), isDisplay, isClosed: true };
  }
  return undefined;
}

/** Where a formula block may interrupt the paragraph; what comes after its empty line does not matter to it. */
function nextBlock(src: string): number | undefined {
  const found = /\n[ \t]*\n|\n {0,3}(?:\$\$|\\\[)/.exec(src);
  return found === null || /\n$/.test(found[0]) ? undefined : found.index;
}

/** How far a text is searched at once. The lexer asks again where it was told to stop. */
const searchedAtOnce = 8_000;

function nextInline(src: string): number | undefined {
  const near = src.slice(0, searchedAtOnce);
  const places = ['$', '\\(', '\\['].map((mark) => near.indexOf(mark)).filter((place) => place !== -1);
  if (places.length > 0) return Math.min(...places);
  return src.length > searchedAtOnce ? searchedAtOnce : undefined;
}

/** Formulas for marked's lexer. */
export const mathExtensions: NonNullable<MarkedOptions['extensions']> = {
  renderers: {},
  childTokens: {},
  block: [blockMath],
  inline: [inlineMath],
  startBlock: [nextBlock],
  startInline: [nextInline],
};
