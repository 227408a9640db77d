import { Tokenizer, type Tokens } from 'marked';
import markedCjkFriendly from 'marked-cjk-friendly';
import { readAlert } from './alerts.ts';

/** More emphasis marks than this in one run of text are plain characters. */
const maximumMarks = 200;
/** Characters within which an address, a link or a piece of plain text has to end. */
const textWindow = 256;
const addressWindow = 1_000;
/** Lines and characters within which a heading's underline has to come. */
const headingWindow = 400;
/** Characters of a list, quote or paragraph that are parsed as one; a longer one continues as another. */
const containerWindow = 20_000;
/** Cells of one table, and its columns; anything more stays text. */
const maximumCells = 20_000;
const maximumColumns = 100;

const { emStrong: cjkEmphasis, del: cjkStrikethrough } = markedCjkFriendly().tokenizer ?? {};
/** Chinese, Japanese and Korean letters and full-width punctuation: only next to them do the marks follow other rules. */
const cjk =
  /[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe10-\ufe6f\uff00-\uffef]|[\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3ffff}]/u;
/** Full-width punctuation and typographic quotes, none of which belong to an address. */
const endOfAddress =
  /[\u2018-\u201f\u2026\u3001-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]/;
/** An address after an unfinished `<` stays text, as in the examples of the specification. */
const openAngle = /^< ?(?:https?:\/\/|ftp:\/\/|www\.)[^\s<>]{0,900}/i;

/**
 * marked's rules look ahead to the end of the text from every position: quadratic time, seconds for a hostile text.
 * Here each rule sees only a window.
 */
export class BoundedTokenizer extends Tokenizer {
  #run = '';
  #isDense = false;
  #isCjk = false;

  override emStrong(
    ...[source, masked, previous]: Parameters<Tokenizer['emStrong']>
  ): ReturnType<Tokenizer['emStrong']> {
    if (this.#hasTooMany(masked)) return undefined;
    if (!this.#isCjk) return super.emStrong(source, masked, previous);
    return cjkEmphasis?.call(this, source, masked, previous) || undefined;
  }

  /** Only a pair of tildes strikes through: a single one is the sign for "about". */
  override del(...[source, masked, previous]: Parameters<Tokenizer['del']>): ReturnType<Tokenizer['del']> {
    if (!/^~~(?!~)/.test(source) || this.#hasTooMany(masked)) return undefined;
    if (!this.#isCjk) return super.del(source, masked, previous);
    return cjkStrikethrough?.call(this, source, masked, previous) || undefined;
  }

  override url(source: string): ReturnType<Tokenizer['url']> {
    const near = source.slice(0, addressWindow);
    const end = near.search(endOfAddress);
    const found = super.url(end === -1 ? near : near.slice(0, end));
    return found && found.raw.length < addressWindow ? found : undefined;
  }

  override inlineText(source: string): ReturnType<Tokenizer['inlineText']> {
    const angle = openAngle.exec(source)?.[0];
    if (angle !== undefined) return { type: 'text', raw: angle, text: angle, escaped: false };
    if (source.length <= textWindow) return super.inlineText(source);
    const found = super.inlineText(source.slice(0, textWindow));
    if (!found || found.raw.length < textWindow) return found;
    // The window may have cut a word, an address or the spaces before a break.
    const window = source.slice(0, textWindow);
    const lastWord = /(?<!\S)\S*$/.exec(window)?.index ?? 0;
    const end = window.slice(0, lastWord).trimEnd().length;
    return end > 0 ? super.inlineText(source.slice(0, end)) : found;
  }

  override lheading(source: string): ReturnType<Tokenizer['lheading']> {
    const queued = this.lexer.inlineQueue.length;
    const found = super.lheading(source.slice(0, headingWindow));
    if (found && found.raw.length < headingWindow) return found;
    this.#unqueue(queued);
    return this.#nextParagraph(source);
  }

  /**
   * Another paragraph where one became too long. The lexer joins what its own rule for paragraphs finds, and copies the
   * whole each time, so this comes from the rule before it.
   */
  #nextParagraph(source: string): Tokens.Heading | undefined {
    const last = this.lexer.state.lastToken;
    if (last?.type !== 'paragraph' || last.raw.length < containerWindow) return undefined;
    return super.paragraph(firstLines(source, 1)) as Tokens.Generic as Tokens.Heading | undefined;
  }

  override table(source: string): ReturnType<Tokenizer['table']> {
    const columns = columnsOf(source);
    if (columns > maximumColumns) return undefined;
    // Its rows are read only once it is known to be a table.
    const queued = this.lexer.inlineQueue.length;
    const isTable = super.table(firstLines(source, 2)) !== undefined;
    this.#unqueue(queued);
    if (!isTable) return undefined;
    return super.table(firstLines(source, 2 + Math.floor(maximumCells / Math.max(1, columns))));
  }

  override list(source: string): ReturnType<Tokenizer['list']> {
    if (!/^ {0,3}[-*+\d]/.test(source) || this.#continuesParagraph(source)) return undefined;
    return super.list(container(source));
  }

  override blockquote(source: string): ReturnType<Tokenizer['blockquote']> {
    if (!/^ {0,3}>/.test(source)) return undefined;
    const quote = super.blockquote(container(source));
    return quote && readAlert(quote, this.lexer.inlineQueue);
  }

  /**
   * Only a bullet or a 1 with words interrupts a paragraph. marked asks this for paragraphs in lists only; elsewhere a
   * line that looks like a table's head ended the paragraph.
   */
  #continuesParagraph(source: string): boolean {
    const last = this.lexer.state.lastToken;
    return (
      last?.type === 'paragraph' &&
      !/\n[ \t]*\n$/.test(last.raw) &&
      !/^ {0,3}(?:[*+-]|1[.)])[ \t]+[^ \t\n]/.test(source)
    );
  }

  /**
   * A rule queues its inline text for the lexer. Text without a token must leave the queue, since the lexer joins the
   * pieces of a paragraph in its last entry.
   */
  #unqueue(length: number): void {
    this.lexer.inlineQueue.length = length;
  }

  #hasTooMany(run: string): boolean {
    if (run !== this.#run) {
      this.#run = run;
      this.#isDense = (run.match(/[*_~]+/g)?.length ?? 0) > maximumMarks;
      this.#isCjk = cjk.test(run);
    }
    return this.#isDense;
  }
}

/** The beginning of a long text, up to a line that may begin an item or a quote. */
function container(source: string): string {
  if (source.length <= containerWindow) return source;
  const near = source.slice(0, containerWindow);
  for (let at = near.lastIndexOf('\n'); at > containerWindow / 2; at = near.lastIndexOf('\n', at - 1))
    if (/[-*+>\d]/.test(source[at + 1] ?? '')) return source.slice(0, at + 1);
  return near;
}

/** Bars in the first line, counted no further than necessary. */
function columnsOf(source: string): number {
  let columns = 1;
  for (let at = 0; at < source.length && source[at] !== '\n' && columns <= maximumColumns; at += 1)
    if (source[at] === '|') columns += 1;
  return columns;
}

function firstLines(source: string, count: number): string {
  let end = -1;
  for (let line = 0; line < count; line += 1) {
    end = source.indexOf('\n', end + 1);
    if (end === -1) return source;
  }
  return source.slice(0, end + 1);
}
