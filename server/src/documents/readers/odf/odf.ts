import { locked } from '../../document.ts';
import type { PageWriter } from '../../page-writer.ts';
import { SheetWriter } from '../sheet-writer.ts';
import { countOf, readXml, type XmlAttributes } from '../xml.ts';
import type { ZipFile } from '../zip.ts';
import { OdfLists } from './odf-lists.ts';
import { readText, spaceOf } from './odf-text.ts';

/** OpenDocument (OASIS): texts with the page breaks their program noted, sheets row by row, slides. */
export function readOdf(zip: ZipFile, kind: 'odt' | 'ods' | 'odp', writer: PageWriter): void {
  if (zip.read('META-INF/manifest.xml')?.includes('encryption-data') === true) throw locked();
  const content = zip.need('content.xml');
  if (kind === 'ods') {
    readSheets(content, writer);
    return;
  }
  const hasPages = kind === 'odp' || content.includes('text:soft-page-break');
  writer.unit = kind === 'odp' ? 'slide' : hasPages ? 'page' : 'part';
  const write = (line: string): void => {
    if (hasPages) writer.add(`${line}\n`);
    else writer.paragraph(line);
  };
  if (kind === 'odp') {
    const lists = new OdfLists(zip.read('styles.xml'), content);
    readText(content, write, { lists, page: () => writer.begin(), notes: () => writer.add('\nNotes:\n') });
    return;
  }
  writer.begin();
  const styles = zip.read('styles.xml');
  const frame = frameOf(styles);
  for (const line of frame.header) write(line);
  const lists = new OdfLists(styles, content);
  readText(content, write, { lists, turn: () => writer.length > 0 && writer.begin() });
  for (const line of frame.footer) write(line);
}

/** Headers and footers: several kinds of pages may share them. */
function frameOf(styles: Buffer | undefined): Record<'header' | 'footer', Set<string>> {
  const frame = { header: new Set<string>(), footer: new Set<string>() };
  let part: Set<string> | undefined;
  if (styles === undefined) return frame;
  const open = (name: string): void => {
    if (/^(?:header|footer)(?:-left|-first)?$/.test(name)) part = name.startsWith('h') ? frame.header : frame.footer;
  };
  const close = (name: string): void => {
    if (/^(?:header|footer)(?:-left|-first)?$/.test(name)) part = undefined;
  };
  readText(styles, (line) => line.trim() !== '' && part?.add(line.trim()), { open, close });
  return frame;
}

/** A cell or row that is said to repeat for longer fills the sheet to its edge. */
const mostRepeats = 10_000;

function readSheets(content: Buffer, writer: PageWriter): void {
  let sheet: SheetWriter | undefined;
  let rows = 1;
  let isHidden = false;
  let row: (() => void)[] = [];
  let cell: SheetCell | undefined;
  let note: string[] | undefined;
  let depth = 0;
  const hiddenTables = new Set<string>();
  let style = '';
  readXml(content, {
    open(name, attributes) {
      if (name === 'style') style = attributes['style:name'] ?? '';
      else if (name === 'table-properties' && attributes['table:display'] === 'false') hiddenTables.add(style);
      else if (name === 'table') {
        sheet ??= new SheetWriter(writer, attributes['table:name'] ?? '');
        if (hiddenTables.has(attributes['table:style-name'] ?? '')) sheet.note('[hidden sheet]');
      } else if (name === 'table-row') {
        rows = countOf(attributes['table:number-rows-repeated']);
        isHidden = /^(?:collapse|filter)$/.test(attributes['table:visibility'] ?? '');
        row = [];
      } else if (name === 'table-cell' || name === 'covered-table-cell') cell = sheetCell(attributes);
      else if (name === 'annotation' && cell !== undefined) note = [];
      else if (name === 'p' && cell !== undefined) {
        depth += 1;
        (note ?? cell.paragraphs).push('');
      } else if (depth > 0) add(spaceOf(name, attributes));
    },
    close(name) {
      if (name === 'table') {
        sheet?.finish();
        sheet = undefined;
      } else if (name === 'p' && cell !== undefined) depth -= 1;
      else if (name === 'annotation' && cell !== undefined && note !== undefined) {
        cell.comments.push(`[comment: ${note.join(' ').trim()}]`);
        note = undefined;
      } else if ((name === 'table-cell' || name === 'covered-table-cell') && cell !== undefined) {
        row.push(cellOf(sheet, shownCell(cell), cell.columns));
        cell = undefined;
      } else if (name === 'table-row' && sheet !== undefined) writeRow(sheet, row, rows, isHidden);
    },
    text(text) {
      if (depth > 0) add(text);
    },
  });
  function add(text: string): void {
    const paragraphs = note ?? cell?.paragraphs ?? [];
    if (paragraphs.length > 0) paragraphs[paragraphs.length - 1] += text;
  }
}

type SheetCell = { columns: number; paragraphs: string[]; comments: string[]; value: string };

/** Programs other than office suites store only the value of a cell, or only its formula. */
function sheetCell(attributes: XmlAttributes): SheetCell {
  const stored = [
    'office:date-value',
    'office:time-value',
    'office:string-value',
    'office:boolean-value',
    'office:value',
  ]
    .map((name) => attributes[name])
    .find((value) => value !== undefined);
  const formula = attributes['table:formula']?.replace(/^(?:of|oooc|msoxl):/, '') ?? '';
  const value = attributes['office:value-type'] === 'percentage' ? percent(stored) : (stored ?? formula);
  return { columns: countOf(attributes['table:number-columns-repeated']), paragraphs: [], comments: [], value };
}

function percent(value: string | undefined): string {
  const number = Number(value);
  return Number.isFinite(number) ? `${Number((number * 100).toPrecision(12))} %` : (value ?? '');
}

function shownCell({ paragraphs, comments, value }: SheetCell): string {
  const text = paragraphs.join(' ');
  return [text.trim() === '' ? value : text, ...comments].filter(Boolean).join(' ');
}

function cellOf(sheet: SheetWriter | undefined, text: string, columns: number): () => void {
  if (text === '') return () => sheet?.skipCells(columns);
  return () => {
    for (let count = Math.min(columns, mostRepeats); count > 0; count -= 1) sheet?.cell(text);
  };
}

function writeRow(sheet: SheetWriter, row: readonly (() => void)[], rows: number, isHidden: boolean): void {
  let written = 0;
  for (let count = Math.min(rows, mostRepeats); count > 0; count -= 1) {
    sheet.beginRow();
    for (const writeCell of row) writeCell();
    written += 1;
    if (!sheet.endRow(isHidden)) break;
  }
  sheet.skipRows(rows - written);
}
