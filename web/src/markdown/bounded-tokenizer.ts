import { Tokenizer, type Tokens } from 'marked';

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

/**
 * marked's rules look ahead to the end of the text from every position: quadratic time, seconds for a hostile text.
 * Here each rule sees only a window.
 */
export class BoundedTokenizer extends Tokenizer {
  #run = '';
  #isDense = false;

  override emStrong(
    ...[source, masked, previous]: Parameters<Tokenizer['emStrong']>
  ): ReturnType<Tokenizer['emStrong']> {
    return this.#hasTooMany(masked) ? undefined : super.emStrong(source, masked, previous);
  }

  override del(...[source, masked, previous]: Parameters<Tokenizer['del']>): ReturnType<Tokenizer['del']> {
    return this.#hasTooMany(masked) ? undefined : super.del(source, masked, previous);
  }

  override url(source: string): ReturnType<Tokenizer['url']> {
    const found = super.url(source.slice(0, addressWindow));
    return found && found.raw.length < addressWindow ? found : undefined;
  }

  override inlineText(source: string): ReturnType<Tokenizer['inlineText']> {
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
    return /^ {0,3}[-*+\d]/.test(source) ? super.list(container(source)) : undefined;
  }

  override blockquote(source: string): ReturnType<Tokenizer['blockquote']> {
    return /^ {0,3}>/.test(source) ? super.blockquote(container(source)) : undefined;
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
