import { Lexer, type MarkedOptions, type Token, type TokensList } from 'marked';
import { blockMath, inlineMath, nextInlineMath, nextMath } from '../math/math-syntax.ts';
import { BoundedTokenizer } from './bounded-tokenizer.ts';
import { footnote, footnoteReference, nextFootnote } from './footnotes.ts';

/** Nesting levels of lists and quotes, and of emphasis and links, that are parsed. */
const maximumDepth = 24;
/** Characters of running text that are parsed at once; emphasis does not cross such a boundary. */
const maximumRun = 2_000;
/**
 * A run of at least this length in which every third character is a mark is not prose: its marks are plain characters.
 */
const denseRun = 1_000;

const extensions: NonNullable<MarkedOptions['extensions']> = {
  renderers: {},
  childTokens: {},
  block: [footnote, blockMath],
  inline: [footnoteReference, inlineMath],
  startBlock: [nextFootnote, nextMath],
  startInline: [nextInlineMath],
};

/**
 * marked's lexer with a budget. Each nesting level parses its text again, so nested text may cost three times the whole
 * length; beyond that it is plain text.
 */
export class BoundedLexer extends Lexer {
  #depth = 0;
  #budget = 0;
  readonly #isGrowing: boolean;

  /** With `isGrowing`, a formula at the end whose closing mark has not come yet is one token. */
  constructor(isGrowing = false) {
    super({ gfm: true, breaks: false, pedantic: false, extensions, tokenizer: new BoundedTokenizer() });
    this.#isGrowing = isGrowing;
  }

  /** Whether text may follow the block that is being read. */
  get isOpenEnded(): boolean {
    return this.#isGrowing && this.#depth === 0;
  }

  override lex(source: string): ReturnType<Lexer['lex']> {
    this.#budget = 20_000 + source.length * 3;
    return super.lex(source);
  }

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], isClipped = false): Token[] {
    if (!this.#affords(source)) return addText(source, tokens);
    this.#depth += 1;
    try {
      return super.blockTokens(source, tokens, isClipped);
    } finally {
      this.#depth -= 1;
    }
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (!this.#affords(source)) return addText(source, tokens);
    this.#depth += 1;
    try {
      for (const run of runs(this.#depth === 1 ? withoutBlanks(source) : source))
        if (isDense(run)) addText(run, tokens);
        else super.inlineTokens(run, tokens);
      return tokens;
    } finally {
      this.#depth -= 1;
    }
  }

  #affords(source: string): boolean {
    if (this.#depth === 0) return true;
    this.#budget -= source.length;
    return this.#depth <= maximumDepth && this.#budget >= 0;
  }
}

/** Blanks at both ends of a paragraph are not content. */
function withoutBlanks(text: string): string {
  const isBlank = (at: number) => ' \t\n'.includes(text[at] ?? 'none');
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(start)) start += 1;
  while (end > start && isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}

function addText(source: string, tokens: Token[]): Token[] {
  if (source !== '') tokens.push({ type: 'text', raw: source, text: source });
  return tokens;
}

function isDense(run: string): boolean {
  return run.length >= denseRun && (run.match(/[*_~[\]()!<>`\\$&@]/g)?.length ?? 0) * 3 > run.length;
}

/** A long text in pieces that end at a line, a word or, at worst, anywhere. */
function runs(source: string): string[] {
  const pieces: string[] = [];
  let rest = source;
  while (rest.length > maximumRun) {
    const line = rest.lastIndexOf('\n', maximumRun);
    const end = line > maximumRun / 2 ? line : rest.lastIndexOf(' ', maximumRun);
    const cut = end > maximumRun / 2 ? end : maximumRun;
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...pieces, rest];
}
