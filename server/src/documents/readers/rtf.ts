import { damaged } from '../document.ts';
import type { PageWriter } from '../page-writer.ts';

/** Groups whose text is not the document's; `\*` begins others that can be skipped. */
const skipped = new Set(
  'fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf listtable listoverridetable rsidtbl generator themedata datastore xmlnstbl fldinst'.split(
    ' ',
  ),
);
const characters = new Map([
  ['tab', '\t'],
  ['line', '\n'],
  ['emdash', '—'],
  ['endash', '–'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['bullet', '•'],
  ['~', '\u00a0'],
  ['_', '-'],
  ['{', '{'],
  ['}', '}'],
  ['\\', '\\'],
]);
const paragraphEnds = new Set(['par', 'sect', 'page', 'trowd', 'cell', 'row']);
const deepest = 1_000;
const token = /\\'([0-9a-f]{2})|\\([a-z]{1,32})(-?\d{1,10})? ?|\\([^a-z])|([{}])|([^\\{}]+)/giy;

/** `aside` is what its text is, where it is not the paragraph's. */
type Group = { isSkipped: boolean; afterUnicode: number; aside?: 'note' | 'mark' };

/**
 * Rich Text Format: its words and paragraphs. A character is given as itself, as a byte of a code page, or by its
 * number.
 */
export function readRtf(bytes: Buffer, writer: PageWriter): void {
  const source = bytes.toString('latin1');
  const groups: Group[] = [];
  let group: Group = { isSkipped: false, afterUnicode: 1 };
  let aside = '';
  let decoder = new TextDecoder('windows-1252');
  let line = '';
  let toSkip = 0;
  let inRow = false;
  let notes: string[] = [];
  const say = (text: string): void => {
    if (group.isSkipped) return;
    if (group.aside === undefined) line += text;
    else aside += text;
  };
  const flush = (): void => {
    writer.paragraph(line);
    line = '';
    for (const note of notes) writer.paragraph(note);
    notes = [];
  };
  const endLine = (): void => {
    if (group.isSkipped) return;
    if (inRow || group.aside !== undefined) say(' ');
    else flush();
  };
  const endAside = (): void => {
    const text = aside.trim();
    aside = '';
    if (text === '') return;
    if (group.aside === 'note') notes.push(text);
    // Of the marks of lists, only numbers and letters say something.
    else line += /[\p{L}\p{N}]/u.test(text) ? `${text} ` : '- ';
  };
  /** Some programs put the whole paragraph of an item, and even the next table, into the group of its mark. */
  const endMark = (): void => {
    if (group.aside !== 'mark') return;
    line += aside.trim() === '' ? '' : `- ${aside.trim()}`;
    aside = '';
    for (const each of [...groups, group]) if (each.aside === 'mark') delete each.aside;
  };
  const byte = (hex: string): void => {
    if (toSkip > 0) toSkip -= 1;
    else say(decoder.decode(Buffer.from(hex, 'hex')));
  };
  const word = (name: string, number: string | undefined): void => {
    const value = Number(number ?? 0);
    if (paragraphEnds.has(name)) endMark();
    if (skipped.has(name)) group.isSkipped = true;
    else if (name === 'u') {
      say(String.fromCharCode(value & 0xffff));
      toSkip = group.afterUnicode;
    } else if (name === 'uc') group.afterUnicode = Math.max(0, Math.min(value, 16));
    else if (name === 'ansicpg') decoder = codePage(value);
    else if (name === 'par' || name === 'sect' || name === 'page') endLine();
    else if (name === 'trowd') inRow = true;
    else if (name === 'cell') line = `${line.trimEnd()}\t`;
    else if (name === 'row') {
      inRow = false;
      line = line.trimEnd();
      endLine();
    } else if (name === 'footnote' && groups.at(-1)?.isSkipped !== true) {
      group.isSkipped = false;
      group.aside = 'note';
    } else if (name === 'listtext' || name === 'pntext') group.aside ??= 'mark';
    else if (name === 'bin') token.lastIndex += Math.max(0, value);
    else say(characters.get(name) ?? '');
  };
  writer.begin();
  token.lastIndex = 0;
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    const [, hex, name, number, symbol, brace, text] = match;
    if (hex !== undefined) byte(hex);
    else if (name !== undefined) word(name, number);
    else if (symbol === '*') group.isSkipped = true;
    else if (symbol === '\n' || symbol === '\r') endLine();
    else if (symbol !== undefined) say(characters.get(symbol) ?? '');
    else if (brace === '{') {
      if (groups.length >= deepest) throw damaged();
      groups.push({ ...group });
    } else if (brace === '}') {
      const around = groups.pop() ?? group;
      if (group.aside !== undefined && around.aside === undefined) endAside();
      group = around;
      toSkip = 0;
    } else if (text !== undefined) {
      const bare = text.replace(/[\r\n]+/g, '');
      say(bare.slice(Math.min(toSkip, bare.length)));
      toSkip = Math.max(0, toSkip - bare.length);
    }
  }
  if (line !== '' || notes.length > 0) flush();
}

function codePage(number: number) {
  const others: Record<number, string> = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 65001: 'utf-8' };
  try {
    return new TextDecoder(others[number] ?? `windows-${number}`);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
