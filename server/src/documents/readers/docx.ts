import type { PageWriter } from '../page-writer.ts';
import { relationsOf } from './relations.ts';
import { attributeOf, readXml } from './xml.ts';
import type { ZipFile } from './zip.ts';

/**
 * Word (ECMA-376): paragraphs, tables row by row, notes at the end; headers before and footers after all of it. Pages
 * are those that Word saw when it saved, else parts.
 */
export function readDocx(zip: ZipFile, writer: PageWriter): void {
  const part = 'word/document.xml';
  const main = zip.need(part);
  const hasPages = main.includes('lastRenderedPageBreak');
  writer.unit = hasPages ? 'page' : 'part';
  writer.begin();
  const write = (line: string): void => {
    if (hasPages) writer.add(`${line}\n`);
    else writer.paragraph(line);
  };
  const turnPage = (): void => {
    if (hasPages && writer.length > 0) writer.begin();
  };
  const related = [...relationsOf(zip, part).values()];
  for (const line of frameOf(zip, related, '/header')) write(line);
  readBody(main, write, turnPage);
  for (const name of ['word/footnotes.xml', 'word/endnotes.xml']) {
    const notes = zip.read(name);
    if (notes !== undefined) readBody(notes, write);
  }
  for (const line of frameOf(zip, related, '/footer')) write(line);
}

/** First, odd and even pages can have their own headers and footers: shared text is written once. */
function frameOf(zip: ZipFile, related: readonly { target: string; type: string }[], type: string): Set<string> {
  const lines = new Set<string>();
  for (const { target } of related.filter((one) => one.type.endsWith(type)).slice(0, mostFrames)) {
    const bytes = zip.read(target);
    if (bytes !== undefined) readBody(bytes, (line) => line.trim() !== '' && lines.add(line.trim()));
  }
  return lines;
}

/** Each section may have three of them. */
const mostFrames = 60;

/** Elements whose content is not part of the text: deleted words, codes of fields, second versions of drawings. */
const left = new Set(['del', 'instrText', 'Fallback', 'delText']);

function readBody(bytes: Buffer, write: (line: string) => void, turn?: () => void): void {
  let line = '';
  let leftOut = 0;
  let inText = false;
  let cells = 0;
  const flush = (): void => {
    write(line);
    line = '';
  };
  const turnPage = (): void => {
    if (turn === undefined) return;
    if (line.trim() !== '') flush();
    turn();
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
        else turnPage();
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
