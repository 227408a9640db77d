/** The position of a search word in a text, in UTF-16 units. */
export type Hit = { start: number; end: number };

/** The part of a text around the first hits. */
export type Snippet = { text: string; hits: Hit[] };

/** Symbols that are searched like words: pictures, flags, currencies, and those of "C++", "C#", "§ 5", "50 %". */
export const searchSigns = String.raw`\p{Extended_Pictographic}\p{Regional_Indicator}\p{Sc}§¶°+#%`;

const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** A version such as 2.3.1 is one word. */
const wordOrSigns = new RegExp(`v?\\p{N}+(?:\\.\\p{N}+)+|[\\p{L}\\p{N}${searchSigns}]+`, 'gu');
/** Words of this length are also found inside longer ones, in characters. */
export const infixMin = 4;
const firstSign = new RegExp(`^[${searchSigns}]`, 'u');
const maximumWords = 16;
const snippetLength = 160;
/** Characters that a snippet shows before its first hit. */
const snippetLead = 40;

/**
 * The search words that can be highlighted: quotes are opened, `or` and excluded words left out, as the server does.
 */
export function searchWords(query: string): string[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== 'or' && !word.startsWith('-'))
    .flatMap((word) => word.match(wordOrSigns) ?? [])
    .filter((word) => word !== '+');
  return [...new Set(words)].slice(0, maximumWords);
}

/** A pattern that finds any of the words; undefined without words. */
function wordPattern(words: readonly string[]): RegExp | undefined {
  if (words.length === 0) return undefined;
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  const alternatives = longestFirst.map((word) => {
    const literal = unaccented(word).replace(/[+$.]/g, '\\$&');
    const isAnywhere = word.length >= infixMin || spaceless.test(word) || firstSign.test(word);
    return isAnywhere ? literal : `(?<![\\p{L}\\p{N}])${literal}`;
  });
  return new RegExp(alternatives.join('|'), 'giu');
}

/** Without accents, each character at its offset. */
function unaccented(text: string): string {
  return text.replace(/[À-ỹ]/g, (letter) => letter.normalize('NFD').charAt(0));
}

/** Every position in `text` of one of the words, of short ones where a word begins with it, at most `maximum`. */
export function findHits(text: string, words: readonly string[], maximum = 200): Hit[] {
  const pattern = wordPattern(words);
  if (!pattern) return [];
  const hits: Hit[] = [];
  for (const match of unaccented(text).matchAll(pattern)) {
    if (hits.length === maximum) break;
    hits.push({ start: match.index, end: match.index + match[0].length });
  }
  return hits;
}

/** True if every word occurs. */
export function hasAllWords(text: string, words: readonly string[]): boolean {
  return words.length > 0 && words.every((word) => wordPattern([word])?.test(unaccented(text)));
}

/** A line of `text` around the first of the words, with all of them marked; undefined if none occurs. */
export function snippetOf(text: string, words: readonly string[]): Snippet | undefined {
  const [first] = findHits(text, words, 1);
  if (!first) return undefined;
  const from = Math.max(0, first.start - snippetLead);
  const lineStart = from === 0 ? 0 : from + Math.max(0, text.slice(from, first.start).indexOf(' ') + 1);
  const line = text
    .slice(lineStart, lineStart + 2 * snippetLength)
    .replace(/\*\*|`+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const cut = [...line].slice(0, snippetLength).join('');
  const shown = `${lineStart > 0 ? '…' : ''}${cut}${cut.length < line.length ? '…' : ''}`;
  return { text: shown, hits: findHits(shown, words, 20) };
}
