import { infixMin, searchSigns } from '@homeport/contracts/text/search-words';

/** Search texts hold words only; everything longer is cut here. */
export const searchTextMax = 100_000;

const notWords = /[^\p{L}\p{M}\p{N}]+/gu;
// Scripts written without spaces: each character is a word, and several of them are a phrase.
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const accents = /[\u0300-\u036f]+/g;
const ligatures = new Map(Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i' }));
const ligature = new RegExp(`[${[...ligatures.keys()].join('')}]`, 'g');
// "v2.3" is found by "2.3".
const version = /(?<![\p{L}\p{N}])v(?=\p{N})/gu;
// Characters that only modify the picture before them.
const pictureMarks = /[\u200d\ufe0e\ufe0f\p{Emoji_Modifier}]/gu;
const sign = new RegExp(`[${searchSigns}]`, 'gu');
// Prefix of the words that represent signs: letters that are adjacent in no language, so that no real word begins with
// them.
const signPrefix = 'qzx';
// Prefix of the endings of words by which their insides are found.
const infixPrefix = 'qzw';
/** Longer words are texts of machines. */
const infixWordMax = 40;
// Bytes of the endings of one text. PostgreSQL refuses more than a mebibyte of words and their positions.
const endingsMax = 256 * 1024;
/** Bytes of a word's position. */
const positionBytes = 8;
const unit = /(-?)(?:"([^"]*)"?|(\S+))/g;
const prefixMin = 2;

/**
 * Text as words in lower case and without accents, with single spaces between: the form in which messages, titles and
 * queries meet.
 */
export function searchText(text: string): string {
  return (
    text
      .slice(0, searchTextMax)
      .toLowerCase()
      .normalize('NFKD')
      .replace(accents, '')
      .normalize('NFC')
      // One sign can stand for eighteen letters.
      .slice(0, searchTextMax)
      .toWellFormed()
      .replace(ligature, (found) => ligatures.get(found) ?? found)
      .replace(version, 'v ')
      .replace(pictureMarks, '')
      .replace(sign, (found) => ` ${signPrefix}${found.codePointAt(0)?.toString(16)} `)
      .replace(notWords, ' ')
      .replace(unspaced, ' $& ')
      .replace(/ {2,}/g, ' ')
      .trim()
  );
}

/** The words of a text, and the endings of its longer ones, so that a word is also found inside others. */
export function indexedText(text: string): string {
  const words = searchText(text);
  const endings = new Set<string>();
  let bytes = 0;
  for (const word of new Set(words.split(' '))) {
    const letters = [...word];
    if (letters.length > infixWordMax || word.startsWith(signPrefix)) continue;
    for (let at = 1; at <= letters.length - infixMin; at += 1) {
      const ending = infixPrefix + letters.slice(at).join('');
      bytes += endings.has(ending) ? 0 : Buffer.byteLength(ending) + positionBytes;
      if (bytes > endingsMax) return [words, ...endings].join(' ');
      endings.add(ending);
    }
  }
  return [words, ...endings].join(' ');
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
 * as in web searches, the last word matches as a prefix, and words of four letters or more match inside others. Undefined when the text contains nothing searchable. The
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
  const isWhole = whole || lastWord.startsWith(signPrefix) || lastWord.startsWith(infixPrefix);
  const isInfix = words.length === 1 && !negated && !isWhole && lastWord.length >= infixMin;
  const isPrefix = isInfix || (isLast && !negated && !isWhole && [...lastWord].length >= prefixMin);
  const phrase = `(${lexemes.join(' <-> ')}${isPrefix ? ':*' : ''})`;
  if (isInfix) return `(${phrase} | '${infixPrefix}${lastWord}':*)`;
  return negated ? `!${phrase}` : phrase;
}
