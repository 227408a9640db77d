import type { PageWriter } from '../../page-writer.ts';
import { mainPathOf } from '../main-part.ts';
import { relationsOf } from '../relations.ts';
import { attributeOf, readXml } from '../xml.ts';
import type { ZipFile } from '../zip.ts';
import { type BodyContext, readBody } from './word-body.ts';
import { WordLists } from './word-lists.ts';

/**
 * Word (ECMA-376): paragraphs with their list numbers, tables row by row, notes at the end; headers before and footers
 * after all of it. Pages are those that Word saw when it saved, else parts.
 */
export function readDocx(zip: ZipFile, writer: PageWriter): void {
  const part = mainPathOf(zip, 'word/document.xml');
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
  const partOf = (type: string): Buffer | undefined => {
    const target = related.find((one) => one.type.endsWith(`/${type}`))?.target;
    return zip.read(target ?? `word/${type}.xml`);
  };
  const lists = new WordLists(partOf('styles'), partOf('numbering'));
  const context: BodyContext = { lists, comments: readComments(partOf('comments')) };
  for (const line of frameOf(zip, related, '/header', context)) write(line);
  readBody(main, write, context, turnPage);
  for (const type of ['footnotes', 'endnotes']) {
    const notes = partOf(type);
    if (notes !== undefined) readBody(notes, write, context);
  }
  for (const line of frameOf(zip, related, '/footer', context)) write(line);
}

/** First, odd and even pages can have their own headers and footers: shared text is written once. */
function frameOf(
  zip: ZipFile,
  related: readonly { target: string; type: string }[],
  type: string,
  context: BodyContext,
): Set<string> {
  const lines = new Set<string>();
  for (const { target } of related.filter((one) => one.type.endsWith(type)).slice(0, mostFrames)) {
    const bytes = zip.read(target);
    if (bytes !== undefined) readBody(bytes, (line) => line.trim() !== '' && lines.add(line.trim()), context);
  }
  return lines;
}

/** Each section may have three of them. */
const mostFrames = 60;
const mostComments = 100_000;

/** Comments by their ids, as they are shown in the text. */
function readComments(bytes: Buffer | undefined): Map<string, string> {
  const comments = new Map<string, string>();
  let id = '';
  let author = '';
  let text = '';
  let inText = false;
  readXml(bytes ?? Buffer.alloc(0), {
    open(name, attributes) {
      if (name === 'comment') {
        id = attributeOf(attributes, 'id') ?? '';
        author = attributeOf(attributes, 'author') ?? '';
        text = '';
      } else if (name === 't') inText = true;
      else if (name === 'p' && text !== '') text += ' ';
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'comment' && comments.size < mostComments)
        comments.set(id, `[comment${author === '' ? '' : ` by ${author}`}: ${text.trim()}]`);
    },
    text(piece) {
      if (inText) text += piece;
    },
  });
  return comments;
}
