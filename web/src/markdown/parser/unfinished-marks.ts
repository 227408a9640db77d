/**
 * Makes the end of a streaming text presentable: closes open emphasis and code, shows half a link as its text, and
 * hides half an image and lone marks until it is clear what they become.
 */
export function closeUnfinishedMarks(source: string): string {
  const text = withoutLoneMarks(source);
  const paragraph = text.lastIndexOf('\n\n') + 1;
  const end = text.slice(paragraph);
  return hasManyMarks(end) ? text : text.slice(0, paragraph) + closeInline(end, 0);
}

/**
 * Most brackets, code marks and emphasis marks in one paragraph that are closed: prose never has that many, and each can
 * cost a search to the end.
 */
const maximumMarks = 300;
/** Open links inside each other. */
const maximumLinks = 8;

function hasManyMarks(text: string): boolean {
  return (text.match(/[*_~`[]+/g)?.length ?? 0) > maximumMarks || (text.match(/\[/g)?.length ?? 0) > maximumMarks;
}

/** A last line of marks only may become a heading, a list, a rule, a fence or an underline. */
function withoutLoneMarks(text: string): string {
  const start = text.lastIndexOf('\n') + 1;
  const line = text.slice(start);
  if (line.length < 80 && /^[\s>]*(?:#{1,6}|[-*+_=~`]{1,3}|\d{1,3}[.)]?)[ \t]*$/.test(line))
    return text.slice(0, start);
  // A table's head without its rule would be a line of bars.
  const head = lastTableHead(text);
  return head === undefined || isTableHead(head) ? text : text.slice(0, text.length - head.length);
}

/** A line that begins with a bar at the text's end, alone or with one line below it that may become its rule. */
function lastTableHead(text: string): string | undefined {
  const last = text.lastIndexOf('\n');
  const rule = text.slice(last + 1);
  const above = last === -1 ? -1 : text.lastIndexOf('\n', last - 1);
  const isBlock = (start: number) => text[start] === '|' && (start === 0 || text.slice(start - 2, start) === '\n\n');
  if (last !== -1 && isBlock(above + 1) && /^[\s|:-]*$/.test(rule)) return text.slice(above + 1);
  return isBlock(last + 1) ? rule : undefined;
}

function isTableHead(head: string): boolean {
  const [names = '', rule = ''] = head.split('\n');
  const cells = cellsOf(rule);
  return cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell)) && cells.length >= cellsOf(names).length;
}

/** The cells of a line of a table, without the bars around them. */
function cellsOf(line: string): string[] {
  const cells = line.trim().split('|');
  if (cells[0] === '') cells.shift();
  if (cells.at(-1) === '') cells.pop();
  return cells.map((cell) => cell.trim());
}

type Opener = { mark: string; at: number };

function closeInline(text: string, depth: number): string {
  const openers: Opener[] = [];
  let result = text;
  let at = 0;
  while (at < text.length) {
    const character = text[at];
    if (character === '\\') at += 2;
    else if (character === '`') {
      const run = /^`+/.exec(text.slice(at))?.[0] ?? '`';
      const end = endOfCode(text, at + run.length, run);
      if (end === -1) {
        const inside = withoutEnd(text.slice(at + run.length), '`');
        result = inside.trim() === '' ? text.slice(0, at) : text.slice(0, at + run.length) + inside + run;
        return closed(result, openers);
      }
      at = end;
    } else if (character === '[') {
      const link = depth < maximumLinks ? halfLink(text, at) : undefined;
      if (link !== undefined) {
        const isImage = text[at - 1] === '!';
        result = text.slice(0, isImage ? at - 1 : at) + (isImage ? '' : closeInline(link, depth + 1));
        return dropBareMark(result, openers);
      }
      at += 1;
    } else if (character === '*' || character === '_' || character === '~') {
      const run = new RegExp(`^\\${character}{1,3}`).exec(text.slice(at))?.[0] ?? character;
      mark(openers, text, at, run);
      at += run.length;
    } else at += 1;
  }
  return dropBareMark(result, openers);
}

/** The text without the characters `mark` at its end. */
function withoutEnd(text: string, mark: string): string {
  let end = text.length;
  while (text[end - 1] === mark) end -= 1;
  return text.slice(0, end);
}

/** Marks with nothing after them yet are left out; the others are closed. */
function dropBareMark(text: string, openers: Opener[]): string {
  let rest = text;
  for (let last = openers.at(-1); last && rest.slice(last.at + last.mark.length).trim() === ''; last = openers.at(-1)) {
    rest = rest.slice(0, last.at);
    openers.pop();
  }
  return closed(rest, openers);
}

/** The text with everything closed, before the spaces at its end: a mark after a space closes nothing. */
function closed(text: string, openers: readonly Opener[]): string {
  if (openers.length === 0) return text;
  const words = text.trimEnd();
  const marks = openers.map((opener) => opener.mark).reverse();
  return words + marks.join('') + text.slice(words.length);
}

function mark(openers: Opener[], text: string, at: number, run: string): void {
  const before = text[at - 1] ?? ' ';
  const after = text[at + run.length];
  if (run[0] === '~' && run.length !== 2 && after !== undefined) return;
  const top = openers.at(-1);
  if (top?.mark === run && !/\s/.test(before)) {
    openers.pop();
    return;
  }
  const isOpening = after === undefined || !/\s/.test(after);
  const isInWord = run[0] === '_' && /[\p{L}\p{N}]/u.test(before);
  const isLineMark = after === undefined && text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === '';
  if (isOpening && !isInWord && !isLineMark) openers.push({ mark: run, at });
}

function endOfCode(text: string, from: number, run: string): number {
  const pattern = /`+/g;
  pattern.lastIndex = from;
  for (let found = pattern.exec(text); found; found = pattern.exec(text))
    if (found[0] === run) return found.index + run.length;
  return -1;
}

/** The text of a link that begins at `at` and is unfinished; undefined if it is finished or not a link. */
function halfLink(text: string, at: number): string | undefined {
  let depth = 0;
  for (let end = at; end < text.length; end += 1) {
    const character = text[end];
    if (character === '\\') end += 1;
    else if (character === '\n' && text[end + 1] === '\n') return undefined;
    else if (character === '[') depth += 1;
    else if (character === ']') {
      depth -= 1;
      if (depth > 0) continue;
      const words = text.slice(at + 1, end);
      if (end === text.length - 1) return /^[ xX]?$/.test(words) ? undefined : words;
      if (text[end + 1] !== '(') return undefined;
      return /^\([^\n)]*$/.test(text.slice(end + 1)) ? words : undefined;
    }
  }
  return text.slice(at + 1);
}
