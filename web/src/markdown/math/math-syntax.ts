import type { MarkedOptions, Tokens } from 'marked';

/** A formula; `isDisplay` if it has its own line. Without its closing mark it is still text. */
export type MathToken = Tokens.Generic & { type: 'math'; text: string; isDisplay: boolean; isClosed: boolean };

const maximumFormula = 4_000;
const display = [
  { open: /^ {0,3}\$\$/, close: '$$' },
  { open: /^ {0,3}\\\[/, close: '\\]' },
] as const;

/** If a formula block does not end within this, it is read as text up to the next empty line. */
const searchedForClosing = 4_000;

/**
 * A formula block ends at its closing mark, at an empty line or at the end, whichever comes first. So later text never
 * changes where it begins, and a streaming text keeps its finished blocks.
 */
function blockMath(src: string): MathToken | undefined {
  for (const { open, close } of display) {
    const start = open.exec(src)?.[0];
    if (start === undefined) continue;
    const near = src.slice(0, start.length + searchedForClosing);
    const at = near.indexOf(close, start.length);
    if (at === -1 || emptyLine.test(near.slice(0, at))) return unclosed(src, start);
    const end = at + close.length;
    const rest = /^[ \t]*(?:\n|$)/.exec(src.slice(end))?.[0];
    // More on the same line: a formula inside a paragraph.
    if (rest === undefined) return undefined;
    const raw = src.slice(0, end + rest.length);
    return { type: 'math', raw, text: src.slice(start.length, at).trim(), isDisplay: true, isClosed: true };
  }
  return undefined;
}

const emptyLine = /\n[ \t]*\n/;

function unclosed(src: string, start: string): MathToken | undefined {
  const blank = emptyLine.exec(src)?.index ?? src.length;
  const isMarkOnly = start.trim() === '$$' && blank === src.length && src.slice(start.length).trim() === '';
  return isMarkOnly ? undefined : openMath(src.slice(0, blank));
}

function openMath(raw: string): MathToken {
  return { type: 'math', raw, text: raw, isDisplay: true, isClosed: false };
}

const inline = [
  { pattern: /^\$\$((?:[^$\\\n]|\\[^\n]|\n(?!\s*\n)){1,4000}?)\$\$/, isDisplay: true },
  // As in Pandoc: no space inside the marks and no digit after them, so that prices stay prices.
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

/** A paragraph is read in pieces of about this length, because every line is checked for what may interrupt it. */
const paragraphPiece = 1_000;

const mayInterrupt = /\n[ \t]*\n|\n {0,3}(?:\$\$|\\\[)/g;

/**
 * Returns the offset at which a formula block interrupts the paragraph, or at which its piece ends (the lexer joins
 * pieces, and copies the accumulated text for each). Stops at an empty line; in a list, each line is lexed on its own.
 */
function nextBlock(this: { lexer: { state: { top: boolean } } }, src: string): number | undefined {
  if (!this.lexer.state.top) return undefined;
  for (const found of src.slice(0, paragraphPiece).matchAll(mayInterrupt)) {
    if (/\n$/.test(found[0])) return undefined;
    if (blockMath(src.slice(found.index + 1)) !== undefined) return found.index;
  }
  if (src.length <= paragraphPiece) return undefined;
  const before = src.lastIndexOf('\n', paragraphPiece - 1);
  const end = before === -1 ? src.indexOf('\n', paragraphPiece) : before;
  return end === -1 ? undefined : end;
}

/** Characters searched per call. The lexer continues at the returned offset. */
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
