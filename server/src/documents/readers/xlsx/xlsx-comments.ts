import { relationsOf } from '../relations.ts';
import { attributeOf, readXml } from '../xml.ts';
import type { ZipFile } from '../zip.ts';

/** Comments on the cells of a sheet, by the reference of the cell ("C2"). */
export type CellComments = Map<string, string>;

const mostComments = 100_000;

/** Threads replace the notes that Excel writes for older versions of itself. */
export function readComments(zip: ZipFile, sheet: string, workbook: string): CellComments {
  const related = [...relationsOf(zip, sheet).values()];
  const partsOf = (type: string) =>
    related.filter((one) => one.type.endsWith(type)).flatMap(({ target }) => zip.read(target) ?? []);
  const notes: CellComments = new Map();
  for (const part of partsOf('/comments')) readNotes(part, notes);
  const threads = partsOf('/threadedComment');
  if (threads.length === 0) return notes;
  const persons = readPersons(zip, workbook);
  const comments: CellComments = new Map();
  for (const part of threads) readThreads(part, persons, comments);
  return new Map([...notes, ...comments]);
}

function readNotes(bytes: Buffer, comments: CellComments): void {
  const authors: string[] = [];
  let ref = '';
  let author = '';
  let text: string | undefined;
  let inText = false;
  readXml(bytes, {
    open(name, attributes) {
      if (name === 'author') text = '';
      else if (name === 'comment') {
        ref = attributes.ref ?? '';
        author = authors[Number(attributes.authorId)] ?? '';
        text = '';
      } else if (name === 't') inText = true;
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'author' && authors.length < mostComments) authors.push((text ?? '').trim());
      else if (name === 'comment' && comments.size < mostComments) add(comments, ref, author, text ?? '');
      if (name === 'author' || name === 'comment') text = undefined;
    },
    text(piece) {
      if (text !== undefined && (inText || ref === '')) text += piece;
    },
  });
}

function readThreads(bytes: Buffer, persons: ReadonlyMap<string, string>, comments: CellComments): void {
  let ref = '';
  let author = '';
  let text = '';
  let inText = false;
  readXml(bytes, {
    open(name, attributes) {
      if (name === 'threadedComment') {
        ref = attributes.ref ?? ref;
        author = persons.get(attributes.personId ?? '') ?? '';
        text = '';
      } else if (name === 'text') inText = true;
    },
    close(name) {
      if (name === 'text') inText = false;
      else if (name === 'threadedComment' && comments.size < mostComments) add(comments, ref, author, text);
    },
    text(piece) {
      if (inText) text += piece;
    },
  });
}

function readPersons(zip: ZipFile, workbook: string): Map<string, string> {
  const persons = new Map<string, string>();
  for (const { type, target } of relationsOf(zip, workbook).values()) {
    const bytes = type.endsWith('/person') ? zip.read(target) : undefined;
    if (bytes === undefined) continue;
    readXml(bytes, {
      open(name, attributes) {
        if (name !== 'person' || persons.size >= mostComments) return;
        persons.set(attributeOf(attributes, 'id') ?? '', attributes.displayName ?? '');
      },
    });
  }
  return persons;
}

function add(comments: CellComments, ref: string, author: string, text: string): void {
  // Excel begins a note with the name of its author.
  const words = text.replace(author === '' ? '' : `${author}:`, '').trim();
  const before = comments.get(ref);
  const mark = `[comment${author === '' ? '' : ` by ${author}`}: ${words}]`;
  comments.set(ref, before === undefined ? mark : `${before} ${mark}`);
}
