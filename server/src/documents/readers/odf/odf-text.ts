import { describeChanges, longestChange, type TrackedChange } from '../word/tracked-changes.ts';
import { countOf, readXml, type XmlAttributes } from '../xml.ts';
import type { OdfLists } from './odf-lists.ts';

/** The paragraphs and tables of an OpenDocument text or presentation. */

export type TextEvents = {
  lists?: OdfLists;
  /** A slide begins. */
  page?(): void;
  /** The notes of the speaker begin. */
  notes?(): void;
  /** Its program ended a page here. */
  turn?(): void;
  open?(name: string): void;
  close?(name: string): void;
};

const mostSpaces = 1_000;
const mostChanges = 20_000;
const longestComment = 10_000;

/** Elements that are skipped: declarations, and the numbers of notes. */
const left = new Set(['sequence-decls', 'note-citation']);

/** Paragraphs, and tables row by row; a note follows the paragraph that has it, a comment stands in its place. */
export function readText(content: Buffer, write: (line: string) => void, events: TextEvents): void {
  readXml(content, new TextReader(write, events));
}

class TextReader {
  readonly #write: (line: string) => void;
  readonly #events: TextEvents;
  #line = '';
  /** The beginning of the line that the document does not store as text. */
  #label = '';
  #depth = 0;
  #cells = 0;
  #leftOut = 0;
  #isSpoken = false;
  /** The line that the note around this place interrupts. */
  #interrupted: string | undefined;
  #notes: string[] = [];
  #side: SideText | undefined;
  readonly #regions = new Map<string, TrackedChange>();
  #changes: TrackedChange[] = [];
  readonly #inserting = new Map<string, TrackedChange>();

  constructor(write: (line: string) => void, events: TextEvents) {
    this.#write = write;
    this.#events = events;
  }

  open(name: string, attributes: XmlAttributes): void {
    if (this.#side !== undefined) {
      this.#openSide(this.#side, name, attributes);
      return;
    }
    if (left.has(name)) this.#leftOut += 1;
    if (this.#leftOut > 0) return;
    this.#events.open?.(name);
    if (name === 'annotation' || name === 'changed-region') {
      const id = attributes['text:id'] ?? attributes['xml:id'] ?? '';
      this.#side = { element: name, id, kind: '', author: '', text: '', inside: undefined };
    } else if (name === 'p' || name === 'h') this.#beginParagraph(name, attributes);
    else if (name === 'note') {
      this.#interrupted = this.#line;
      this.#line = '';
    } else if (name === 'page' && attributes['draw:name'] !== undefined) this.#events.page?.();
    else if (name === 'notes') this.#isSpoken = true;
    else if (name === 'soft-page-break') {
      if (this.#depth > 0 && this.#line.trim() !== '') this.#flush();
      this.#events.turn?.();
    } else if (name === 'table-cell') this.#cells += 1;
    else if (!this.#openList(name, attributes) && !this.#readChange(name, attributes['text:change-id'])) {
      this.#add(spaceOf(name, attributes));
    }
  }

  close(name: string): void {
    if (this.#side !== undefined) {
      this.#closeSide(this.#side, name);
      return;
    }
    if (left.has(name)) this.#leftOut -= 1;
    else if (this.#leftOut > 0) return;
    else if (name === 'p' || name === 'h') this.#endParagraph();
    else if (name === 'note' && this.#interrupted !== undefined) {
      this.#notes.push(this.#line.trim());
      this.#line = this.#interrupted;
      this.#interrupted = undefined;
    } else if (name === 'notes') this.#isSpoken = false;
    else if (name === 'list') this.#events.lists?.closeList();
    else if (name === 'list-item' || name === 'list-header') this.#events.lists?.closeItem();
    else if (name === 'table-cell') {
      this.#cells -= 1;
      this.#line = `${this.#line.trimEnd()}\t`;
    } else if (name === 'table-row' && this.#cells === 0) {
      this.#line = this.#line.trimEnd();
      this.#flush();
    }
    this.#events.close?.(name);
  }

  text(text: string): void {
    const words = text.replace(/\s+/g, ' ');
    if (this.#side !== undefined) addToSide(this.#side, words);
    else if (this.#depth > 0 && this.#leftOut === 0) this.#add(words);
  }

  #add(text: string): void {
    this.#line += text;
    for (const change of this.#inserting.values()) if (change.text.length < longestChange) change.text += text;
  }

  #openList(name: string, attributes: XmlAttributes): boolean {
    const isItem = name === 'list-item' || name === 'list-header';
    if (name === 'list') this.#events.lists?.openList(attributes);
    else if (isItem) this.#events.lists?.openItem(attributes, name === 'list-header');
    return isItem || name === 'list';
  }

  #beginParagraph(name: string, attributes: XmlAttributes): void {
    this.#depth += 1;
    const level = name === 'h' ? countOf(attributes['text:outline-level']) : undefined;
    const mark = level === undefined ? '' : `${'#'.repeat(Math.min(6, level))} `;
    this.#label = `${mark}${this.#events.lists?.labelOf(attributes, level) ?? ''}`;
    this.#line += this.#label;
  }

  #endParagraph(): void {
    this.#depth -= 1;
    // An item without text.
    if (this.#line === this.#label) this.#line = '';
    this.#label = '';
    const changes = describeChanges(this.#changes);
    if (changes !== '') this.#line += `${this.#line === '' ? '' : ' '}${changes}`;
    this.#changes = [];
    // An insertion can continue in the next paragraph.
    for (const [id, { kind, author }] of this.#inserting) this.#beginInsertion(id, { kind, author, text: '' });
    if (this.#cells === 0 && this.#interrupted === undefined) this.#flush();
    else this.#line += ' ';
  }

  #readChange(name: string, id = ''): boolean {
    const region = this.#regions.get(id);
    if (name === 'change' && region !== undefined) this.#changes.push(region);
    else if (name === 'change-start' && region !== undefined) this.#beginInsertion(id, { ...region, text: '' });
    else if (name === 'change-end') this.#inserting.delete(id);
    return name.startsWith('change');
  }

  #beginInsertion(id: string, change: TrackedChange): void {
    this.#inserting.set(id, change);
    this.#changes.push(change);
  }

  #openSide(side: SideText, name: string, attributes: XmlAttributes): void {
    if (name === 'insertion' || name === 'deletion') side.kind = name === 'insertion' ? 'inserted' : 'deleted';
    else if (name === 'creator') side.inside = 'author';
    else if (name === 'p' || name === 'h') {
      side.inside = 'text';
      if (side.text !== '') side.text += ' ';
    } else if (side.inside === 'text') addToSide(side, spaceOf(name, attributes));
  }

  #closeSide(side: SideText, name: string): void {
    if (name === 'creator' || name === 'p' || name === 'h') side.inside = undefined;
    if (name !== side.element) return;
    this.#side = undefined;
    const { kind, text } = side;
    const author = side.author.trim();
    if (name === 'annotation') {
      const by = author === '' ? '' : ` by ${author}`;
      if (text.trim() !== '') this.#line += `${/\S$/.test(this.#line) ? ' ' : ''}[comment${by}: ${text.trim()}]`;
    } else if (kind !== '' && this.#regions.size < mostChanges) this.#regions.set(side.id, { kind, author, text });
  }

  #flush(): void {
    if (this.#isSpoken && this.#line.trim() !== '') {
      this.#events.notes?.();
      this.#isSpoken = false;
    }
    this.#write(this.#line);
    this.#line = '';
    for (const note of this.#notes) this.#write(note);
    this.#notes = [];
  }
}

/** A comment or tracked change, which is beside the text. */
type SideText = {
  element: 'annotation' | 'changed-region';
  id: string;
  kind: string;
  author: string;
  text: string;
  inside: 'author' | 'text' | undefined;
};

function addToSide(side: SideText, words: string): void {
  if (side.inside === 'author' && side.author.length < 200) side.author += words.slice(0, 200);
  else if (side.inside === 'text' && side.text.length < longestComment) side.text += words;
}

export function spaceOf(name: string, attributes: XmlAttributes): string {
  if (name === 'tab') return '\t';
  if (name === 'line-break') return '\n';
  return name === 's' ? ' '.repeat(Math.min(mostSpaces, countOf(attributes['text:c']))) : '';
}
