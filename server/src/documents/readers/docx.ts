import type { PageWriter } from '../page-writer.ts';
import { attributeOf, readXml } from './xml.ts';
import type { ZipFile } from './zip.ts';

/** Word (ECMA-376): paragraphs, tables row by row, notes at the end. Pages are those that Word saw when it saved, else parts. */
export function readDocx(zip: ZipFile, writer: PageWriter): void {
  const main = zip.need('word/document.xml');
  const hasPages = main.includes('lastRenderedPageBreak');
  writer.unit = hasPages ? 'page' : 'part';
  writer.begin();
  readBody(main, writer, hasPages);
  for (const name of ['word/footnotes.xml', 'word/endnotes.xml']) {
    const notes = zip.read(name);
    if (notes !== undefined) readBody(notes, writer, hasPages);
  }
}

/** What is inside these is no text of the document: deleted words, codes of fields, second versions of drawings. */
const left = new Set(['del', 'instrText', 'Fallback', 'delText']);

function readBody(bytes: Buffer, writer: PageWriter, hasPages: boolean): void {
  let line = '';
  let leftOut = 0;
  let inText = false;
  let cells = 0;
  const flush = (): void => {
    if (hasPages) writer.add(`${line}\n`);
    else writer.paragraph(line);
    line = '';
  };
  const turnPage = (): void => {
    if (line.trim() !== '') flush();
    if (writer.length > 0) writer.begin();
  };
  readXml(bytes, {
    open(name, attributes) {
      if (left.has(name)) leftOut += 1;
      if (leftOut > 0) return;
      if (name === 't') inText = true;
      else if (name === 'tab') line += '\t';
      else if (name === 'noBreakHyphen') line += '-';
      else if (name === 'br' || name === 'cr') {
        if (attributeOf(attributes, 'type') !== 'page') line += '\n';
        else if (hasPages) turnPage();
      } else if (name === 'lastRenderedPageBreak') turnPage();
      else if (name === 'tc') cells += 1;
      else if (name === 'pStyle') line = headingMark(attributeOf(attributes, 'val')) + line;
    },
    close(name) {
      if (left.has(name)) leftOut -= 1;
      if (name === 't') inText = false;
      else if (name === 'p') {
        if (cells === 0) flush();
        else line += ' ';
      } else if (name === 'tc') {
        cells -= 1;
        line = `${line.trimEnd()}\t`;
      } else if (name === 'tr' && cells === 0) {
        line = line.trimEnd();
        flush();
      }
    },
    text(text) {
      if (inText && leftOut === 0) line += text;
    },
  });
  if (line !== '') flush();
}

function headingMark(style: string | undefined): string {
  const level = /^(?:heading|berschrift|Überschrift)\s?([1-6])$/i.exec(style ?? '')?.[1];
  return level === undefined ? '' : `${'#'.repeat(Number(level))} `;
}
