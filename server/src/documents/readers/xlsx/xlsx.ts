import { DocumentRefused } from '../../document.ts';
import type { PageWriter } from '../../page-writer.ts';
import { mainPathOf } from '../main-part.ts';
import { relationsOf } from '../relations.ts';
import { SheetWriter } from '../sheet-writer.ts';
import { readXml, relationId } from '../xml.ts';
import type { ZipFile } from '../zip.ts';
import { type CellComments, readComments } from './xlsx-comments.ts';
import { type CellStyles, readCellStyles } from './xlsx-styles.ts';

/** Characters of all shared texts, and how many there are. */
const mostShared = { characters: 64 * 1024 * 1024, texts: 2_000_000 };
const mostSheets = 10_000;

/**
 * Excel (ECMA-376): the sheets in their order, row by row, cells between tabs; values as they are shown,
 * and formulas that were never worked out as they are written. */
export function readXlsx(zip: ZipFile, writer: PageWriter): void {
  const main = mainPathOf(zip, 'xl/workbook.xml');
  const relations = relationsOf(zip, main);
  const sheets: { name: string; part: string; isHidden: boolean }[] = [];
  let epoch = 1900;
  readXml(zip.need(main), {
    open(name, attributes) {
      if (name === 'workbookPr' && /^(?:1|true)$/.test(attributes.date1904 ?? '')) epoch = 1904;
      if (name !== 'sheet') return;
      const part = relations.get(relationId(attributes) ?? '')?.target;
      if (part !== undefined && sheets.length < mostSheets)
        sheets.push({
          name: attributes.name ?? `${sheets.length + 1}`,
          part,
          isHidden: /hidden/i.test(attributes.state ?? ''),
        });
    },
  });
  const partOf = (type: string): Buffer | undefined => {
    const known = [...relations.values()].find((one) => one.type.endsWith(`/${type}`))?.target;
    return zip.read(known ?? `xl/${type}.xml`);
  };
  const shared = readShared(partOf('sharedStrings'));
  const styles = readCellStyles(partOf('styles'), epoch);
  for (const { name, part, isHidden } of sheets) {
    const bytes = zip.read(part);
    if (bytes === undefined) continue;
    const sheet = new SheetWriter(writer, name);
    if (isHidden) sheet.note('[hidden sheet]');
    readSheet(bytes, sheet, { shared, styles, comments: readComments(zip, part, main) });
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

type Cell = { type: string; style: number; value: string; formula: string; ref: string };
type Context = { shared: readonly string[]; styles: CellStyles; comments: CellComments };

/** A formula that several cells share is written in the first of them. */
type SharedFormulas = Map<string, { ref: string; text: string }>;
const mostFormulas = 100_000;

function readSheet(bytes: Buffer, sheet: SheetWriter, context: Context): void {
  let cell: Cell = { type: 'n', style: 0, value: '', formula: '', ref: '' };
  const formulas: SharedFormulas = new Map();
  const noted = new Set<string>();
  let sharedBy: string | undefined;
  let part: 'value' | 'formula' | undefined;
  let isHidden = false;
  readXml(bytes, {
    open(name, { r, t, s, si, hidden }) {
      if (name === 'row') {
        isHidden = /^(?:1|true)$/.test(hidden ?? '');
        sheet.beginRow(r === undefined ? undefined : Number(r));
      } else if (name === 'c') {
        cell = { type: t ?? 'n', style: Number(s ?? 0), value: '', formula: '', ref: r ?? '' };
        sharedBy = undefined;
        sheet.beginCell(r === undefined ? undefined : columnOf(r));
      } else if (name === 'v' || name === 't') part = 'value';
      else if (name === 'f') {
        part = 'formula';
        if (t === 'shared') sharedBy = si;
      }
    },
    close(name) {
      if (name === 'v' || name === 't' || name === 'f') part = undefined;
      else if (name === 'c') {
        const comment = context.comments.get(cell.ref);
        if (comment !== undefined) noted.add(cell.ref);
        const text = shown(cell, context) || formulaOf(cell, sharedBy, formulas);
        sheet.cell([text, comment ?? ''].filter(Boolean).join(' '));
        if (sharedBy !== undefined && cell.formula !== '' && formulas.size < mostFormulas)
          formulas.set(sharedBy, { ref: cell.ref, text: cell.formula });
      } else if (name === 'row') sheet.endRow(isHidden);
    },
    text(text) {
      if (part === 'value') cell.value += text;
      else if (part === 'formula') cell.formula += text;
    },
  });
  for (const [ref, comment] of context.comments) if (!noted.has(ref)) sheet.note(`${ref}: ${comment}`);
  sheet.finish();
}

/** The formula of a cell whose result was never stored. */
function formulaOf({ formula, type }: Cell, sharedBy: string | undefined, formulas: SharedFormulas): string {
  // An empty text is a result.
  if (type === 'str') return '';
  if (formula !== '') return `=${formula}`;
  const first = sharedBy === undefined ? undefined : formulas.get(sharedBy);
  return first === undefined ? '' : `=${first.text} (as in ${first.ref})`;
}

function shown({ type, style, value }: Cell, { shared, styles }: Context): string {
  if (type === 's') return shared[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type === 'd') return value.replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '');
  if (type !== 'n' || value === '') return value;
  return styles.show(style, value);
}

/** 0 for A, 26 for AA. */
function columnOf(reference: string): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return undefined;
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
