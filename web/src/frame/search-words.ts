/** Where a word of a search stands in a text, in UTF-16 units. */
export type Hit = { start: number; end: number };

const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const maximumWords = 16;

/** The words of a search that can be shown as hits: quotes opened, `or` and excluded words left out, as the server reads it. */
export function searchWords(query: string): string[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== 'or' && !word.startsWith('-'))
    .flatMap((word) => word.match(/[\p{L}\p{N}]+/gu) ?? []);
  return [...new Set(words)].slice(0, maximumWords);
}

/** A pattern that finds any of the words; undefined when there is none to look for. */
export function wordPattern(words: readonly string[]): RegExp | undefined {
  if (words.length === 0) return undefined;
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  const alternatives = longestFirst.map((word) => (spaceless.test(word) ? word : `(?<![\\p{L}\\p{N}])${word}`));
  return new RegExp(alternatives.join('|'), 'giu');
}

/** Every place in `text` where one of the words begins a word, at most `maximum`. */
export function findHits(text: string, words: readonly string[], maximum = 200): Hit[] {
  const pattern = wordPattern(words);
  if (!pattern) return [];
  const hits: Hit[] = [];
  for (const match of text.matchAll(pattern)) {
    if (hits.length === maximum) break;
    hits.push({ start: match.index, end: match.index + match[0].length });
  }
  return hits;
}

/** True when every word occurs. */
export function hasAllWords(text: string, words: readonly string[]): boolean {
  return words.length > 0 && words.every((word) => wordPattern([word])?.test(text));
}
