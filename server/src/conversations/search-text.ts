import { searchSigns } from '@homeport/contracts/text/search-words';

/** Search texts hold words only; everything longer is cut here. */
export const searchTextMax = 100_000;

const notWords = /[^\p{L}\p{M}\p{N}]+/gu;
// Scripts written without spaces: each character is a word, and several of them are a phrase.
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
// Characters that only modify the picture before them.
const pictureMarks = /[\u200d\ufe0e\ufe0f\p{Emoji_Modifier}]/gu;
const sign = new RegExp(`[${searchSigns}]`, 'gu');
// Prefix of the words that represent signs: letters that are adjacent in no language, so that no real word begins with
// them.
const signPrefix = 'qzx';
const unit = /(-?)(?:"([^"]*)"?|(\S+))/g;
const prefixMin = 2;

/** Text as words in lower case with single spaces between: the form in which messages, titles and queries meet. */
export function searchText(text: string): string {
  return text
    .slice(0, searchTextMax)
    .toWellFormed()
    .normalize('NFKC')
    .toLowerCase()
    .replace(pictureMarks, '')
    .replace(sign, (found) => ` ${signPrefix}${found.codePointAt(0)?.toString(16)} `)
    .replace(notWords, ' ')
    .replace(unspaced, ' $& ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

/** True when a text that `searchText` made has words for signs. */
export function hasSigns(words: string): boolean {
  return words.includes(signPrefix);
}

/** The lexeme that marks an owner's texts. No word and no beginning of a word matches it: it starts with a colon. */
export function ownerLexeme(ownerId: string): string {
  return `:${ownerId}`;
}

/** The lexeme as a tsquery of its own. */
export function ownerQuery(ownerId: string): string {
  return `'${ownerLexeme(ownerId).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/**
 * Converts typed text to the input of to_tsquery: words are joined by AND, "…" is a phrase, `or` and a leading `-` work
 * as in web searches, and the last word matches as a prefix. Undefined when the text contains nothing searchable. The
 * result is always valid syntax.
 */
export function searchQuery(typed: string): string | undefined {
  const alternatives: Unit[][] = [[]];
  for (const [, minus, phrase, word] of typed.matchAll(unit)) {
    if (minus === '' && word?.toLowerCase() === 'or') {
      alternatives.push([]);
      continue;
    }
    const words = searchText(phrase ?? word ?? '')
      .split(' ')
      .filter(Boolean);
    if (words.length > 0) alternatives.at(-1)?.push({ words, negated: minus === '-', whole: phrase !== undefined });
  }
  const last = alternatives.at(-1)?.at(-1);
  const expressions = alternatives
    .filter((units) => units.some((one) => !one.negated))
    .map((units) => `(${units.map((one) => expression(one, one === last)).join(' & ')})`);
  return expressions.length === 0 ? undefined : expressions.join(' | ');
}

type Unit = { words: string[]; negated: boolean; whole: boolean };

function expression({ words, negated, whole }: Unit, isLast: boolean): string {
  const lexemes = words.map((word) => `'${word}'`);
  const lastWord = words.at(-1) ?? '';
  const isWhole = whole || lastWord.startsWith(signPrefix);
  const isPrefix = isLast && !negated && !isWhole && [...lastWord].length >= prefixMin;
  const phrase = `(${lexemes.join(' <-> ')}${isPrefix ? ':*' : ''})`;
  return negated ? `!${phrase}` : phrase;
}
