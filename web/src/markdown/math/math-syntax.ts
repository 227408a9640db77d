import type { Lexer, Tokens } from 'marked';

/** A formula; `isDisplay` if it has its own line. Without its closing mark it is still text. */
export type MathToken = Tokens.Generic & { type: 'math'; text: string; isDisplay: boolean; isClosed: boolean };

const maximumFormula = 4_000;
const display = [
  { open: /^ {0,3}\$\$/, close: '$$' },
  { open: /^ {0,3}\\\[/, close: '\\]' },
] as const;

/** A formula block has to end within this, or its opening mark is text. */
const searchedForClosing = 4_000;

type MathContext = { lexer: Lexer & { isOpenEnded?: boolean } };

/**
 * Extension of marked's lexer: a block of its own.
 * A formula block ends at its closing mark, before any empty line. Without one its opening mark is text; but while the
 * text grows, all up to its end may still become the formula, so that is one token that later text can replace.
 */
export function blockMath(this: MathContext, src: string): MathToken | undefined {
  for (const { open, close } of display) {
    const start = open.exec(src)?.[0];
    if (start === undefined) continue;
    const near = src.slice(0, start.length + searchedForClosing);
    const at = endOfFormula(near, start.length, close);
    if (at === 'none') return undefined;
    if (at === 'open')
      return this.lexer.isOpenEnded && near.length === src.length ? openMath(this.lexer, src, start) : undefined;
    const end = at + close.length;
    const rest = /^[ \t]*(?:\n|$)/.exec(src.slice(end))?.[0];
    const text = src.slice(start.length, at).trim();
    // More on the same line: a formula inside a paragraph.
    if (rest === undefined || !isFormula(text)) return undefined;
    return { type: 'math', raw: src.slice(0, end + rest.length), text, isDisplay: true, isClosed: true };
  }
  return undefined;
}

const hasContent = /[\p{L}\p{N}]/u;
/** A link, as in `\[[text](address)\]`: the brackets are escaped. */
const holdsLink = /\]\((?:https?:\/\/|mailto:|[/#])/i;

function isFormula(text: string): boolean {
  return hasContent.test(text) && !holdsLink.test(text);
}

/** Offset of the closing mark; `none` behind an empty line or another opening mark, `open` if the text ends before it. */
function endOfFormula(text: string, from: number, close: string): number | 'none' | 'open' {
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith(close, at)) return at;
    if (text[at] === '\\') {
      if (close === '\\]' && text[at + 1] === '[') return 'none';
      at += 1;
    } else if (text[at] === '\n' && /^[ \t]*\n/.test(text.slice(at + 1, at + 100))) return 'none';
  }
  return 'open';
}

/**
 * A formula whose end may still come. Nothing but `$$` may also be the end of one in the text before it. An escaped
 * bracket with a word in it (`\\[word]`) is shown as the text that it most likely is.
 */
function openMath(lexer: Lexer, src: string, start: string): MathToken | undefined {
  if (start.trim() === '$$' && src.slice(start.length).trim() === '') return undefined;
  const token: MathToken = { type: 'math', raw: src, text: src, isDisplay: true, isClosed: false };
  return escapedBracket.test(src) ? { ...token, tokens: lexer.inline(src) } : token;
}

const escapedBracket = /^ {0,3}\\\[[^[\]\\\n]{0,200}\]/;

const inline = [
  { pattern: /^\$\$((?:[^$\\\n]|\\[^\n]|\n(?!\s*\n)){1,4000}?)\$\$/, isDisplay: true },
  // As in Pandoc: no space inside the marks and no digit after them, so that prices stay prices.
  { pattern: /^\$(?![\s$])((?:[^$\\\n]|\\[^\n]){1,1000}?)(?<![\s\\])\$(?![\d$])/, isDisplay: false },
  { pattern: /^\\\(((?:[^\\\n]|\\(?![()])[^\n]){1,1000}?)\\\)/, isDisplay: false },
  { pattern: /^\\\[((?:[^\\\n]|\\(?![[\]])[^\n]){1,4000}?)\\\]/, isDisplay: true },
] as const;

/** Extension of marked's lexer: a formula in running text. */
export function inlineMath(src: string): MathToken | undefined {
  for (const { pattern, isDisplay } of inline) {
    const [raw, text] = pattern.exec(src) ?? [];
    if (raw === undefined || text === undefined || text.length > maximumFormula || !isFormula(text)) continue;
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
export function nextMath(this: MathContext, src: string): number | undefined {
  if (!this.lexer.state.top) return undefined;
  for (const found of src.slice(0, paragraphPiece).matchAll(mayInterrupt)) {
    if (/\n$/.test(found[0])) return undefined;
    if (blockMath.call(this, src.slice(found.index + 1)) !== undefined) return found.index;
  }
  if (src.length <= paragraphPiece) return undefined;
  const before = src.lastIndexOf('\n', paragraphPiece - 1);
  const end = before === -1 ? src.indexOf('\n', paragraphPiece) : before;
  return end === -1 ? undefined : end;
}

/** Characters searched per call. The lexer continues at the returned offset. */
const searchedAtOnce = 8_000;

/** Extension of marked's lexer: the offset at which running text may have a formula. */
export function nextInlineMath(src: string): number | undefined {
  const near = src.slice(0, searchedAtOnce);
  const places = ['$', '\\(', '\\['].map((mark) => near.indexOf(mark)).filter((place) => place !== -1);
  if (places.length > 0) return Math.min(...places);
  return src.length > searchedAtOnce ? searchedAtOnce : undefined;
}
