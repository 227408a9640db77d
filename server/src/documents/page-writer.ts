import { trimEndOf, trimOf } from '@homeport/contracts/text/trim-characters';
import type { DocumentBounds, DocumentPage, DocumentWarning } from './document.ts';

/** Thrown into a reader once nothing more is taken; what there is stays. */
export class Enough extends Error {}

/**
 * Flowing text has no pages: parts of about this length replace them, short enough for the limit on pages to cover the
 * longest text. No part is much longer than the second figure.
 */
const partLength = 6_000;
const longestPart = 16_000;

type Unit = 'page' | 'part' | 'slide';

// biome-ignore lint/suspicious/noControlCharactersInRegex: what no text holds and no database keeps
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Collects the text of a document page by page, within the bounds. */
export class PageWriter {
  readonly #bounds: Pick<DocumentBounds, 'maxPages' | 'maxTextBytes'>;
  readonly #pages: { label: string | undefined; text: string }[] = [];
  readonly #warnings: DocumentWarning[] = [];
  #bytes = 0;
  #label: string | undefined;
  #pieces: string[] = [];
  #length = 0;
  #isOpen = false;
  /** Unit for pages without their own name. */
  unit: Unit;

  constructor(bounds: Pick<DocumentBounds, 'maxPages' | 'maxTextBytes'>, unit: Unit) {
    this.#bounds = bounds;
    this.unit = unit;
  }

  /** How many characters the present page has so far. */
  get length(): number {
    return this.#length;
  }

  /**
   * Ends the present page and begins another, which counts even if it stays empty. Throws Enough when there are too
   * many.
   */
  begin(label?: string): void {
    this.#end();
    if (this.#pages.length >= this.#bounds.maxPages) {
      this.warn('pages_cut', `Only the first ${this.#bounds.maxPages} pages are read.`);
      throw new Enough();
    }
    this.#isOpen = true;
    this.#label = label;
  }

  /** Throws Enough when the text is full. */
  add(text: string): void {
    if (text === '') return;
    if (!this.#isOpen) this.begin();
    const available = this.#bounds.maxTextBytes - this.#bytes;
    const bytes = Buffer.byteLength(text);
    if (bytes <= available) {
      this.#take(text, bytes);
      return;
    }
    const kept = trimEndOf(Buffer.from(text).subarray(0, Math.max(0, available)).toString(), '\uFFFD');
    this.#take(kept, available);
    this.warn('text_cut', `Only the first ${Math.round(this.#bounds.maxTextBytes / 1024)} KiB of the text are read.`);
    throw new Enough();
  }

  /** A paragraph of flowing text: begins the next part where one is full. */
  paragraph(text: string): void {
    for (let rest = text; ; ) {
      if (this.#length >= partLength) this.begin();
      if (rest.length <= longestPart) {
        this.add(rest);
        this.add('\n');
        return;
      }
      const space = rest.lastIndexOf(' ', longestPart);
      const end = space > longestPart / 2 ? space + 1 : longestPart;
      this.add(rest.slice(0, end));
      rest = rest.slice(end);
    }
  }

  warn(code: DocumentWarning['code'], message: string): void {
    if (!this.#warnings.some((warning) => warning.code === code)) this.#warnings.push({ code, message });
  }

  finish(): { pages: DocumentPage[]; warnings: DocumentWarning[] } {
    this.#end();
    const pages = this.#pages.map(({ label, text }, index) => ({ label: label ?? `${this.unit} ${index + 1}`, text }));
    return { pages, warnings: this.#warnings };
  }

  #take(text: string, bytes: number): void {
    this.#pieces.push(text);
    this.#bytes += bytes;
    this.#length += text.length;
  }

  #end(): void {
    if (this.#isOpen) this.#pages.push({ label: this.#label, text: tidy(this.#pieces.join('')) });
    this.#isOpen = false;
    this.#pieces = [];
    this.#length = 0;
  }
}

function tidy(text: string): string {
  const lines = text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(controls, '')
    .split('\n')
    .map((line) => line.trimEnd());
  return trimOf(lines.join('\n').replace(/\n{3,}/g, '\n\n'), '\n');
}
