/**
 * The share of a text that was extracted, from 0 to 1: the characters that both texts have in the same order (their
 * longest common subsequence), over the length of the longer one. Missing, added, wrong and misplaced characters count
 * against it.
 */
export function likeness(expected: string, actual: string): number {
  const [one, other] = [plain(expected), plain(actual)];
  const longer = Math.max(one.length, other.length);
  if (longer === 0) return 1;
  return (one.length + other.length - distance(one, other)) / 2 / longer;
}

const wide = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]`;
const spaceByWide = new RegExp(`(?<=${wide}) | (?=${wide})`, 'gu');

/**
 * Normalizes the differences that are common between programs: compatibility forms (NFKC), soft hyphens, direction
 * marks, marks of headings and list items at the beginning of a line, and white space, which is one space, or none
 * beside characters that are written without, and between Korean and digits, where programs leave a gap of their own.
 */
function plain(text: string): string[] {
  const bare = text
    .normalize('NFKC')
    .replace(/[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/^\s*(?:#{1,6}|[-•●◦▪*])\s+/gm, '')
    .replace(/\s+/g, ' ')
    .replace(spaceByWide, '')
    .replace(/(?<=\p{N}) (?=\p{Script=Hangul})|(?<=\p{Script=Hangul}) (?=\p{N})/gu, '')
    .trim();
  return [...bare];
}

/**
 * Insertions and deletions that turn one into the other (Myers): fast for small differences, and given up for large
 * ones.
 */
function distance(one: readonly string[], other: readonly string[]): number {
  const most = Math.ceil((one.length + other.length) / 4);
  const furthest = new Int32Array(2 * most + 3);
  for (let edits = 0; edits <= most; edits += 1) {
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const at = diagonal + most + 1;
      const [below = 0, above = 0] = [furthest[at - 1], furthest[at + 1]];
      let x = diagonal === -edits || (diagonal !== edits && below < above) ? above : below + 1;
      while (x < one.length && x - diagonal < other.length && one[x] === other[x - diagonal]) x += 1;
      furthest[at] = x;
      if (x >= one.length && x - diagonal >= other.length) return edits;
    }
  }
  return one.length + other.length;
}
