import { DocumentRefused } from '../document.ts';
import type { PageWriter } from '../page-writer.ts';
import { relationsOf } from './relations.ts';
import { SheetWriter } from './sheet-writer.ts';
import { type CellStyles, readCellStyles } from './xlsx-styles.ts';
import { readXml, relationId } from './xml.ts';
import type { ZipFile } from './zip.ts';

/** Characters of all shared texts, and how many there are. */
const mostShared = { characters: 64 * 1024 * 1024, texts: 2_000_000 };
const mostSheets = 10_000;

/** Excel (ECMA-376): the sheets in their order, row by row, cells between tabs; values as they were last worked out. */
export function readXlsx(zip: ZipFile, writer: PageWriter): void {
  const main = 'xl/workbook.xml';
  const relations = relationsOf(zip, main);
  const sheets: { name: string; part: string }[] = [];
  let epoch = 1900;
  readXml(zip.need(main), {
    open(name, attributes) {
      if (name === 'workbookPr' && /^(?:1|true)$/.test(attributes.date1904 ?? '')) epoch = 1904;
      if (name !== 'sheet') return;
      const part = relations.get(relationId(attributes) ?? '')?.target;
      if (part !== undefined && sheets.length < mostSheets)
        sheets.push({ name: attributes.name ?? `${sheets.length + 1}`, part });
    },
  });
  const shared = readShared(zip.read('xl/sharedStrings.xml'));
  const styles = readCellStyles(zip.read('xl/styles.xml'), epoch);
  for (const { name, part } of sheets) {
    const bytes = zip.read(part);
    if (bytes !== undefined) readSheet(bytes, new SheetWriter(writer, name), shared, styles);
  }
}

function readShared(bytes: Buffer | undefined): string[] {
  const shared: string[] = [];
  if (bytes === undefined) return shared;
  let text = '';
  let length = 0;
  let inText = false;
  let inReading = false;
  readXml(bytes, {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 't') inText = true;
      // Japanese files contain the pronunciation of words.
      else if (name === 'rPh') inReading = true;
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'rPh') inReading = false;
      else if (name === 'si' && shared.push(text) > mostShared.texts) throw tooMuch();
    },
    text(piece) {
      if (!inText || inReading) return;
      text += piece;
      length += piece.length;
      if (length > mostShared.characters) throw tooMuch();
    },
  });
  return shared;
}

function tooMuch(): DocumentRefused {
  return new DocumentRefused('too_large', 'The file holds too much text to be read.');
}

function readSheet(bytes: Buffer, sheet: SheetWriter, shared: readonly string[], styles: CellStyles): void {
  let cell = { type: 'n', style: 0, value: '' };
  let inValue = false;
  readXml(bytes, {
    open(name, { r, t, s }) {
      if (name === 'row') sheet.beginRow(r === undefined ? undefined : Number(r));
      else if (name === 'c') {
        cell = { type: t ?? 'n', style: Number(s ?? 0), value: '' };
        sheet.beginCell(r === undefined ? undefined : columnOf(r));
      } else if (name === 'v' || name === 't') inValue = true;
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false;
      else if (name === 'c') sheet.cell(shown(cell, shared, styles));
      else if (name === 'row') sheet.endRow();
    },
    text(text) {
      if (inValue) cell.value += text;
    },
  });
  sheet.finish();
}

function shown(
  { type, style, value }: { type: string; style: number; value: string },
  shared: readonly string[],
  styles: CellStyles,
): string {
  if (type === 's') return shared[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type !== 'n' || value === '') return value;
  return styles.show(style, value);
}

/** 0 for A, 26 for AA. */
function columnOf(reference: string): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return undefined;
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
