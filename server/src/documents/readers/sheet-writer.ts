import type { PageWriter } from '../page-writer.ts';

const fullAt = 6_000;
/** A sheet as wide as that is as wide as they come. */
const mostColumns = 16_384;
/** More empty cells than these between two others only say that they are far apart. */
const mostEmpty = 20;
const farApart = '…';

/** Rows of a sheet as lines, cells between tabs; a long sheet becomes several pages, each named after its rows. */
export class SheetWriter {
  readonly #writer: PageWriter;
  readonly #name: string;
  #row = 0;
  #column = 0;
  #cells: [column: number, text: string][] = [];
  #lines: string[] = [];
  #firstRow = 1;
  #length = 0;
  #pages = 0;

  constructor(writer: PageWriter, name: string) {
    this.#writer = writer;
    this.#name = name;
  }

  /** `row` counts from 1; without it, the next one. */
  beginRow(row?: number): void {
    this.#row = row !== undefined && Number.isInteger(row) && row > this.#row ? row : this.#row + 1;
    this.#cells = [];
    this.#column = 0;
  }

  /** `column` counts from 0; without it, the next one. */
  beginCell(column?: number): void {
    if (column !== undefined && column > this.#column) this.#column = column;
  }

  cell(text: string): void {
    if (this.#column >= mostColumns) return;
    if (text !== '') {
      this.#cells.push([this.#column, text.replace(/\s+/g, ' ').trim()]);
    }
    this.#column += 1;
  }

  /** A line about the sheet. */
  note(text: string): void {
    if (this.#lines.length === 0) this.#firstRow = this.#row + 1;
    this.#lines.push(text);
    this.#length += text.length + 1;
  }

  skipCells(count: number): void {
    this.#column = Math.min(mostColumns, this.#column + count);
  }

  skipRows(count: number): void {
    this.#row += count;
  }

  /** False when there was nothing in it. A hidden row is marked at its end. */
  endRow(isHidden = false): boolean {
    const cells = this.#line();
    if (cells.trim() === '') return false;
    const line = isHidden ? `${cells}\t[hidden row]` : cells;
    if (this.#lines.length === 0) this.#firstRow = this.#row;
    this.#lines.push(line);
    this.#length += line.length + 1;
    if (this.#length >= fullAt) this.#flush(false);
    return true;
  }

  /** The cells between tabs. */
  #line(): string {
    const shown: string[] = [];
    let before = -1;
    for (const [column, text] of this.#cells) {
      const empty = column - before - 1;
      if (empty > mostEmpty) shown.push('', farApart);
      else for (let count = empty; count > 0; count -= 1) shown.push('');
      shown.push(text);
      before = column;
    }
    return shown.join('\t');
  }

  /** An empty sheet is a page, too: its name may say something. */
  finish(): void {
    if (this.#lines.length > 0 || this.#pages === 0) this.#flush(true);
  }

  #flush(isLast: boolean): void {
    const isWhole = isLast && this.#pages === 0;
    const rows = isWhole ? '' : `, rows ${this.#firstRow}–${this.#row}`;
    this.#writer.begin(`sheet ${this.#name}${rows}`);
    this.#pages += 1;
    const text = this.#lines.join('\n');
    this.#lines = [];
    this.#length = 0;
    this.#writer.add(text);
  }
}
