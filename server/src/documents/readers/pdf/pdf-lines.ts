/** The lines of a PDF page as they are read, from the pieces of text that it places. */

/** As PDF.js gives it: `dir` is what it took the piece for, `transform` ends with where the piece begins. */
export type Piece = { str: string; dir: string; transform: number[]; width: number; height: number; hasEOL: boolean };

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g;
const leftToRight = /\p{L}/gu;
/** Pieces further apart than this share of their height are words, or cells, of their own. */
const gap = 0.2;

/** `pieces` up to the end of a line, in the order in which the file draws them. */
export function readLine(pieces: readonly Piece[]): string {
  const text = pieces.map(({ str }) => str).join('');
  if (!isForeign(text)) return withBullet(text);
  return withBullet(isFromTheRight(pieces) ? fromTheRight(pieces) : pieces.map(inReadingOrder).join(''));
}

/** True for a line that is mostly Hebrew or Arabic. */
export function isFromTheRight(pieces: readonly Piece[]): boolean {
  const text = pieces.map(({ str }) => str).join('');
  const foreign = text.match(rightToLeft)?.length ?? 0;
  return foreign > 0 && foreign * 2 > (text.match(leftToRight)?.length ?? 0);
}

/** Symbol fonts put the signs of lists where no character has its place. */
function withBullet(line: string): string {
  return line.replace(/^(\s*)[\ue000-\uf8ff](?=\s)/, '$1•');
}

/** Orders Hebrew and Arabic pieces from right to left, and keeps left-to-right runs within them unchanged. */
function fromTheRight(pieces: readonly Piece[]): string {
  const placed = pieces.filter(({ str }) => str !== '').toSorted((a, b) => startOf(b) - startOf(a));
  const ordered: Piece[] = [];
  let latin: Piece[] = [];
  for (const piece of placed) {
    const isNear = latin[0] !== undefined && Math.abs(distance(piece, latin[0])) < piece.height;
    const isLatin = /[\p{L}\p{N}]/u.test(piece.str) && !isForeign(piece.str);
    const isSpace = piece.str.trim() === '' && piece.width < piece.height;
    if (isNear && (isLatin || isSpace)) {
      latin.unshift(piece);
      continue;
    }
    ordered.push(...latin);
    latin = isLatin ? [piece] : [];
    if (!isLatin) ordered.push(piece);
  }
  ordered.push(...latin);
  let line = '';
  let before: Piece | undefined;
  for (const piece of ordered) {
    if (before !== undefined && areApart(before, piece)) line += ' ';
    line += inReadingOrder(piece);
    before = piece;
  }
  return line.replace(/ {2,}/g, ' ').trim();
}

function startOf({ transform }: Piece): number {
  return transform[4] ?? 0;
}

function areApart(one: Piece, other: Piece): boolean {
  return distance(one, other) > gap * Math.max(one.height, other.height);
}

/** Between the end of the left one and the beginning of the right one. */
function distance(one: Piece, other: Piece): number {
  const [left, right] = startOf(one) < startOf(other) ? [one, other] : [other, one];
  return startOf(right) - (startOf(left) + left.width);
}

const form = String.raw`[\ufb1d-\ufdff\ufe70-\ufefc]`;
const formRuns = new RegExp(`${form}(?:[^\\p{L}\\p{N}]*${form})*`, 'gu');
const letterRuns = /[\u0590-\u08ff](?:[^\p{L}\p{N}]*[\u0590-\u08ff])*/gu;

function isForeign(text: string): boolean {
  return text.search(rightToLeft) !== -1;
}

/**
 * Letters that stand for their shapes are taken by PDF.js for letters from the left, and left as they are drawn, from
 * the left. This undoes it and makes plain letters of them.
 */
function inReadingOrder({ str, dir }: Pick<Piece, 'str' | 'dir'>): string {
  if (str.search(form) === -1) return str;
  const turned = dir === 'rtl' ? str.replace(formRuns, reversed) : reversed(str.replace(letterRuns, reversed));
  return turned.normalize('NFKC');
}

function reversed(text: string): string {
  return [...text].reverse().join('');
}
