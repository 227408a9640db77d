import { locked } from '../document.ts';
import type { PageWriter } from '../page-writer.ts';
import { SheetWriter } from './sheet-writer.ts';
import { countOf, readXml, type XmlAttributes } from './xml.ts';
import type { ZipFile } from './zip.ts';

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
  if (kind === 'odt') writer.begin();
  readText(content, writer, hasPages);
}

const mostSpaces = 1_000;
/** A cell or row that is said to repeat for longer fills the sheet to its edge. */
const mostRepeats = 10_000;

function readText(content: Buffer, writer: PageWriter, hasPages: boolean): void {
  let line = '';
  let depth = 0;
  let cells = 0;
  // Changes that were tracked, and what stands beside the text.
  let leftOut = 0;
  const left = new Set(['tracked-changes', 'annotation', 'sequence-decls']);
  const flush = (): void => {
    if (hasPages) writer.add(`${line}\n`);
    else writer.paragraph(line);
    line = '';
  };
  readXml(content, {
    open(name, attributes) {
      if (left.has(name)) leftOut += 1;
      if (leftOut > 0) return;
      if (name === 'p' || name === 'h') {
        depth += 1;
        if (name === 'h') line += `${'#'.repeat(Math.min(6, countOf(attributes['text:outline-level'])))} `;
      } else if (name === 'page' && attributes['draw:name'] !== undefined) writer.begin();
      else if (name === 'notes' && hasPages) writer.add('\nNotes:\n');
      else if (name === 'soft-page-break') {
        if (depth > 0 && line.trim() !== '') flush();
        if (writer.length > 0) writer.begin();
      } else if (name === 'table-cell') cells += 1;
      else line += spaceOf(name, attributes);
    },
    close(name) {
      if (left.has(name)) leftOut -= 1;
      else if (leftOut > 0) return;
      else if (name === 'p' || name === 'h') {
        depth -= 1;
        if (cells === 0) flush();
        else line += ' ';
      } else if (name === 'table-cell') {
        cells -= 1;
        line = `${line.trimEnd()}\t`;
      } else if (name === 'table-row' && cells === 0) {
        line = line.trimEnd();
        flush();
      }
    },
    text(text) {
      if (depth > 0 && leftOut === 0) line += text.replace(/\s+/g, ' ');
    },
  });
}

function spaceOf(name: string, attributes: XmlAttributes): string {
  if (name === 'tab') return '\t';
  if (name === 'line-break') return '\n';
  return name === 's' ? ' '.repeat(Math.min(mostSpaces, countOf(attributes['text:c']))) : '';
}

function readSheets(content: Buffer, writer: PageWriter): void {
  let sheet: SheetWriter | undefined;
  let rows = 1;
  let row: (() => void)[] = [];
  let columns = 1;
  let paragraphs: string[] = [];
  let inCell = false;
  let depth = 0;
  readXml(content, {
    open(name, attributes) {
      if (name === 'table') sheet ??= new SheetWriter(writer, attributes['table:name'] ?? '');
      else if (name === 'table-row') {
        rows = countOf(attributes['table:number-rows-repeated']);
        row = [];
      } else if (name === 'table-cell' || name === 'covered-table-cell') {
        inCell = true;
        columns = countOf(attributes['table:number-columns-repeated']);
        paragraphs = [];
      } else if (name === 'p' && inCell) {
        depth += 1;
        paragraphs.push('');
      } else if (depth > 0) add(spaceOf(name, attributes));
    },
    close(name) {
      if (name === 'table') {
        sheet?.finish();
        sheet = undefined;
      } else if (name === 'p' && inCell) depth -= 1;
      else if (name === 'table-cell' || name === 'covered-table-cell') {
        inCell = false;
        row.push(cellOf(sheet, paragraphs.join(' '), columns));
      } else if (name === 'table-row' && sheet !== undefined) writeRow(sheet, row, rows);
    },
    text(text) {
      if (depth > 0) add(text);
    },
  });
  function add(text: string): void {
    paragraphs[paragraphs.length - 1] += text;
  }
}

function cellOf(sheet: SheetWriter | undefined, text: string, columns: number): () => void {
  if (text === '') return () => sheet?.skipCells(columns);
  return () => {
    for (let count = Math.min(columns, mostRepeats); count > 0; count -= 1) sheet?.cell(text);
  };
}

function writeRow(sheet: SheetWriter, row: readonly (() => void)[], rows: number): void {
  let written = 0;
  for (let count = Math.min(rows, mostRepeats); count > 0; count -= 1) {
    sheet.beginRow();
    for (const writeCell of row) writeCell();
    written += 1;
    if (!sheet.endRow()) break;
  }
  sheet.skipRows(rows - written);
}
