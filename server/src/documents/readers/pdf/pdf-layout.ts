import { isFromTheRight, type Piece, readLine } from './pdf-lines.ts';

/**
 * The text of a page from its rows of pieces: columns of text one after the other although the file draws them row by
 * row, and cells of tables between tabs, each in its column although others are empty.
 */

type Segment = { pieces: Piece[]; start: number; end: number; text: string };
/** `segments` are its parts between wide gaps, from the left; one for text that is turned or read from the right. */
type Row = { y: number; segments: Segment[]; text: string; isPlain: boolean };

/** Larger pages are written as they are drawn. */
const mostPieces = 50_000;
/** Pieces further apart than this, in heights of their text, are in different columns. */
const wideGap = 1.2;
const fewestColumnRows = 5;
const fewestTableRows = 2;
const mostCells = 60;

/** `lines`: the pieces of each line in the order the file draws them. */
export function layOut(lines: readonly (readonly Piece[])[]): string {
  if (lines.reduce((sum, line) => sum + line.length, 0) > mostPieces) return lines.map(readLine).join('\n');
  const rows = lines.map(rowOf);
  const written: string[] = [];
  for (let at = 0; at < rows.length; ) {
    const end = endOfParted(rows, at);
    const block = rows.slice(at, end);
    const columns = end - at >= fewestColumnRows ? textColumns(block) : undefined;
    if (columns !== undefined) written.push(...columns);
    else if (isTable(block)) written.push(...tableLines(block));
    else written.push(...block.map(({ text }) => text));
    at = end;
  }
  return written.join('\n');
}

function rowOf(line: readonly Piece[]): Row {
  const text = readLine(line);
  const y = line.find(({ str }) => str.trim() !== '')?.transform[5] ?? 0;
  const isPlain = line.every(({ transform }) => (transform[1] ?? 0) === 0) && !isFromTheRight(line);
  const segments = isPlain ? segmentsOf(line) : [];
  return { y, text, isPlain, segments };
}

function segmentsOf(line: readonly Piece[]): Segment[] {
  const segments: Segment[] = [];
  for (const piece of line) {
    if (piece.str.trim() === '') continue;
    const start = piece.transform[4] ?? 0;
    const last = segments.at(-1);
    // Text that jumps back does not form a row of cells.
    if (last !== undefined && start < last.start - 1) return [];
    const isNear = last !== undefined && start - last.end < wideGap * Math.max(piece.height, 1);
    if (last !== undefined && (isNear || (segments.length === 1 && isListMark(last)))) {
      last.pieces.push(...spaceBetween(line, last.pieces.at(-1), piece), piece);
      last.end = Math.max(last.end, start + piece.width);
    } else segments.push({ pieces: [piece], start, end: start + piece.width, text: '' });
  }
  for (const segment of segments) segment.text = readLine(segment.pieces).trim();
  return segments.length > mostCells ? [] : segments;
}

const listMark = /^(?:[\ue000-\uf8ff\u2022\u25cf\u25e6\u25aa\u2013*-]|\(?[\p{L}\p{N}]{1,4}[.)])$/u;

/** The bullet or number of a list item, which its text follows at a distance. */
function isListMark({ pieces }: Segment): boolean {
  const text = pieces.map(({ str }) => str).join('');
  return text.length <= 8 && listMark.test(text.trim());
}

/** The blank that PDF.js put between two pieces. */
function spaceBetween(line: readonly Piece[], one: Piece | undefined, other: Piece): Piece[] {
  const before = line[line.indexOf(other) - 1];
  return before === undefined || before === one ? [] : [before];
}

/** End of the rows that belong together: those with several parts, and those of one part between them. */
function endOfParted(rows: readonly Row[], from: number): number {
  if (!isParted(rows[from])) {
    let end = from + 1;
    while (end < rows.length && !isParted(rows[end])) end += 1;
    // The first column may have begun alone.
    return end;
  }
  let end = from + 1;
  while (end < rows.length) {
    if (isParted(rows[end]) && follows(rows[end - 1], rows[end])) end += 1;
    else if (isShort(rows, from, end) && isParted(rows[end + 1]) && follows(rows[end - 1], rows[end])) end += 2;
    else break;
  }
  return end;
}

function isParted(row: Row | undefined): boolean {
  return (row?.segments.length ?? 0) > 1;
}

/** A row of one part that lies within one column of the rows before it. */
function isShort(rows: readonly Row[], from: number, at: number): boolean {
  const only = rows[at]?.segments;
  if (only?.length !== 1) return false;
  const [part] = only;
  const before = rows.slice(Math.max(from, at - 3), at).filter(isParted);
  return before.every(
    ({ segments }) =>
      part !== undefined && segments.filter(({ start, end }) => start < part.end && end > part.start).length <= 1,
  );
}

/** Downwards, and not across half of the page. */
function follows(one: Row | undefined, other: Row | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const step = one.y - other.y;
  const height = other.segments[0]?.pieces[0]?.height ?? 0;
  return step > 0 && step < Math.max(height, 1) * 6;
}

/** The texts of the columns, one after the other; undefined unless they are columns of flowing text. */
function textColumns(block: readonly Row[]): string[] | undefined {
  const columns = columnsOf(block);
  if (columns.length < 2 || columns.length > 3) return undefined;
  const lines: Segment[][] = columns.map(() => []);
  for (const { segments } of block) {
    for (const segment of segments) lines[indexOf(columns, segment)]?.push(segment);
  }
  const isFlowing = lines.every((column) => {
    const long = column.filter(({ text }) => isProse(text)).length;
    return column.length >= block.length * 0.6 && long >= column.length * 0.6;
  });
  return isFlowing ? lines.flatMap((column) => column.map(({ text }) => text)) : undefined;
}

/** Four words, or as many characters of a script without spaces. */
function isProse(text: string): boolean {
  return text.split(' ').length >= 4 || (text.match(/[\u3040-\u30ff\u4e00-\u9fff]/g)?.length ?? 0) >= 10;
}

function isTable(block: readonly Row[]): boolean {
  return block.length >= fewestTableRows && block.filter(isParted).length >= fewestTableRows;
}

function tableLines(block: readonly Row[]): string[] {
  const columns = columnsOf(block);
  return block.map(({ segments, text }) => {
    if (segments.length === 0) return text;
    const cells: string[] = [];
    for (const segment of segments) {
      const column = indexOf(columns, segment);
      while (cells.length < column) cells.push('');
      // Two parts of one column are one cell.
      if (cells.length > column) cells.push(`${cells.pop() ?? ''} ${segment.text}`.trim());
      else cells.push(segment.text);
    }
    return cells.join('\t');
  });
}

type Column = { start: number; end: number };

/** Places that parts overlap in, from the rows that have the most of them; parts of others may bridge several. */
function columnsOf(block: readonly Row[]): Column[] {
  const most = Math.max(...block.map(({ segments }) => segments.length));
  const full = block.filter(({ segments }) => segments.length === most).flatMap(({ segments }) => segments);
  const columns: Column[] = [];
  for (const { start, end } of full.toSorted((a, b) => a.start - b.start)) {
    const last = columns.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else columns.push({ start, end });
  }
  return columns;
}

/** The column that a part overlaps most, else the one nearest to it. */
function indexOf(columns: readonly Column[], { start, end }: Segment): number {
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (const [index, column] of columns.entries()) {
    const shared = Math.min(end, column.end) - Math.max(start, column.start);
    if (shared <= most) continue;
    best = index;
    most = shared;
  }
  return best;
}
