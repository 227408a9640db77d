import type { Links, Token } from 'marked';
import { BoundedLexer } from './bounded-lexer.ts';

/** Blocks of a markdown text as marked's tokens; `version` changes if a link definition may affect older blocks. */
export type Blocks = { tokens: readonly Token[]; links: Links };

/**
 * Raw tokens that stay open at the end of a growing text. One is not enough: a table row, a lazy list line or a setext
 * underline can still change the second to last. Two pass the property test; the third is a margin.
 */
const openTokens = 3;
/**
 * A longer open tail is parsed only when it has grown by a quarter, so that the cost stays proportional to its length.
 */
const longTail = 12_000;

/**
 * Parses a text, or with `isGrowing` the beginning of one. Never throws: if the parser fails (absurd nesting), the text
 * becomes one text token.
 */
export function parseBlocks(text: string, links: Links = {}, isGrowing = false): Blocks {
  try {
    const lexer = new BoundedLexer(isGrowing);
    Object.assign(lexer.tokens.links, links);
    const tokens = lexer.lex(text);
    return { tokens: [...tokens], links: { ...tokens.links } };
  } catch {
    return { tokens: [{ type: 'text', raw: text, text }], links };
  }
}

/**
 * Parses a text that grows at its end, for one streamed text part. Blocks before the last three tokens are frozen: they
 * are never parsed again and keep their identity, so that React skips them.
 */
export class StreamingBlocks {
  #frozen: Token[] = [];
  #frozenText = '';
  #links: Links = {};
  #text = '';
  #parsedTail = 0;
  #blocks: Blocks = { tokens: [], links: {} };

  /** With `ended`, the text is parsed once as a whole: only then are links with a later definition resolved. */
  update(source: string, ended: boolean): Blocks {
    const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
    if (ended) return this.#finish(text);
    if (text === this.#text) return this.#blocks;
    if (!text.startsWith(this.#frozenText)) this.#reset();
    const tailLength = text.length - this.#frozenText.length;
    if (tailLength > longTail && tailLength < this.#parsedTail * 1.25 && text.startsWith(this.#text))
      return this.#extend(text);
    this.#parse(text, true);
    return this.#blocks;
  }

  /** The last result, with what came since as plain text. */
  #extend(text: string): Blocks {
    const raw = text.slice(this.#text.length);
    return { tokens: [...this.#blocks.tokens, { type: 'text', raw, text: raw }], links: this.#links };
  }

  #parse(text: string, isGrowing: boolean): void {
    this.#text = text;
    this.#parsedTail = text.length - this.#frozenText.length;
    const tail = parseBlocks(text.slice(this.#frozenText.length), this.#links, isGrowing);
    this.#freeze(tail.tokens.slice(0, Math.max(0, tail.tokens.length - openTokens)), tail.links);
    const open = tail.tokens.slice(-openTokens);
    this.#blocks = { tokens: [...this.#frozen, ...open], links: this.#links };
  }

  #freeze(tokens: readonly Token[], links: Links): void {
    const length = tokens.reduce((sum, token) => sum + token.raw.length, 0);
    if (length === 0) return;
    this.#frozen = [...this.#frozen, ...tokens];
    this.#frozenText = this.#text.slice(0, this.#frozenText.length + length);
    // A definition in the open tail is parsed again with it.
    for (const token of tokens)
      if (token.type === 'def' && token.tag in links) this.#links = { ...this.#links, ...pick(links, token.tag) };
  }

  #finish(text: string): Blocks {
    const needsLinks = Object.keys(this.#links).length > 0 || text.includes(']:');
    if (text.startsWith(this.#frozenText) && !needsLinks) {
      this.#parse(text, false);
      return this.#blocks;
    }
    this.#reset();
    this.#text = text;
    this.#blocks = parseBlocks(text);
    return this.#blocks;
  }

  #reset(): void {
    this.#frozen = [];
    this.#frozenText = '';
    this.#links = {};
    this.#parsedTail = 0;
  }
}

function pick(links: Links, tag: string): Links {
  const link = links[tag];
  return link ? { [tag]: link } : {};
}
