import { trimOf } from '@homeport/contracts/text/trim-characters';
import { searchText } from '../conversations/search-text.ts';

/** Ranks pieces of documents for a question: BM25 over its words, and exact numbers and identifiers before the rest. */

/** `stem` is the part that its other forms share; `isExact` words have none. */
export type Term = { word: string; stem: string; isExact: boolean };
/** Numbers, versions, codes and names of programs in a question: as typed, in lower case, and as words. */
export type Identifier = { text: string; words: string[] };

const mostTerms = 24;
const mostIdentifiers = 8;
const longestQuery = 2_000;
/** Shorter words have no other forms. */
const prefixFrom = 4;

export function termsOf(query: string): Term[] {
  const words = [...new Set(searchText(query).split(' '))].filter(Boolean).slice(0, mostTerms);
  const terms = new Map<string, Term>();
  for (const word of words) {
    const isExact = /\p{N}/u.test(word) || [...word].length < prefixFrom;
    const stem = isExact ? word : stemOf(word);
    if (!terms.has(stem)) terms.set(stem, { word, stem, isExact });
  }
  return [...terms.values()];
}

const item = / ?\(([\p{L}\p{N}]{1,6})\)/gu;
const run = /[\p{L}\p{N}\-._/:@#]+/gu;
const joints = '-._/:@#';
const single = /[\p{L}\p{N}]{2,40}/gu;

/** "INV-2024-001", "2.3.1", "user_id", "480", "UserById", "DIN", "4.2(a)". */
export function identifiersOf(query: string): Identifier[] {
  const found = new Set<string>();
  let outside = query;
  for (const { text, start, end } of clausesOf(query)) {
    found.add(text);
    outside = `${outside.slice(0, start)}${' '.repeat(end - start)}${outside.slice(end)}`;
  }
  const rest = outside.replace(run, (whole) => {
    const text = trimOf(whole, joints);
    const isJoined = /[-._/:@#]/.test(text) && /\p{N}|[_@]/u.test(text);
    if (isJoined) found.add(text);
    // Parts of a longer one say less than it.
    return isJoined ? ' ' : whole;
  });
  for (const [text] of rest.matchAll(single)) {
    if (/\p{N}/u.test(text) || /\p{Ll}\p{Lu}/u.test(text) || /^\p{Lu}{2,}$/u.test(text)) found.add(text);
  }
  return [...found].slice(0, mostIdentifiers).map((text) => ({
    text: text.toLowerCase(),
    words: searchText(text).split(' ').filter(Boolean),
  }));
}

/** Clauses with their items, as lawyers cite them: 4.2(a), 12 (b)(ii). */
function clausesOf(query: string): { text: string; start: number; end: number }[] {
  const clauses: { text: string; start: number; end: number }[] = [];
  for (const { 0: whole, 1: name = '', index } of query.slice(0, longestQuery).matchAll(item)) {
    if (!/^(?:\p{L}|\p{N}{1,3}|[ivxlc]{2,6})$/u.test(name)) continue;
    const last = clauses.at(-1);
    if (last?.end === index) {
      last.text += `(${name})`;
      last.end += whole.length;
      continue;
    }
    const number = query.slice(Math.max(0, index - 24), index).split(/[^\p{L}\p{N}\-._/]/u);
    const text = number.at(-1) ?? '';
    if (/^\p{N}[\p{L}\p{N}.]{0,20}$/u.test(text)) {
      clauses.push({ text: `${text}(${name})`, start: index - text.length, end: index + whole.length });
    }
  }
  return clauses;
}

const endings =
  /(?:ations?|ments?|ingly|ings?|edly|ness|ities|ity|ies|ied|ers?|ed|es|s|ly|ally|ical|ic|al|ung(?:en)?|keit(?:en)?|lich(?:e[rsnm]?)?|ern|en|em|er|est|e|n|y)$/;
const shortestStem = 4;

/**
 * Without its ending, in the way of light stemmers for English, German and their relatives; of other words, without the
 * last letters, which are what most languages change.
 */
function stemOf(word: string): string {
  const letters = [...word];
  const stripped = letters.length - (endings.exec(word)?.[0].length ?? 0);
  if (stripped < letters.length) return letters.slice(0, Math.max(shortestStem, stripped)).join('');
  const ending = letters.length >= 8 ? 2 : letters.length >= 6 ? 1 : 0;
  return letters.slice(0, letters.length - ending).join('');
}

export type Candidate = { text: string };
/** `found`: how many pieces have each term, by its stem; `pieces`: how many there are. */
export type Frequencies = { found: ReadonlyMap<string, number>; pieces: number };

const saturation = 1.2;
const lengthShare = 0.6;
/** A word that merely begins like the stem can be another word. */
const weights = { word: 1, form: 0.9, prefix: 0.4 };

/** The scores of the candidates, in their order. */
export function scoresOf(
  candidates: readonly Candidate[],
  terms: readonly Term[],
  identifiers: readonly Identifier[],
  frequencies: Frequencies,
): number[] {
  const counted = candidates.map(({ text }) => countTerms(text, terms));
  const average = counted.reduce((sum, { length }) => sum + length, 0) / Math.max(1, counted.length);
  // Words that were not looked up are in nearly every piece.
  const rarity = terms.map(({ stem }) =>
    rarityOf(frequencies.found.get(stem) ?? frequencies.pieces, frequencies.pieces),
  );
  const top = rarity.reduce((sum, one) => sum + one, 0) * (saturation + 1);
  return candidates.map(({ text }, index) => {
    const { counts, length } = counted[index] ?? { counts: [], length: 0 };
    let score = 0;
    for (const [term, count] of counts.entries()) {
      const norm = saturation * (1 - lengthShare + (lengthShare * length) / Math.max(1, average));
      score += ((rarity[term] ?? 0) * count * (saturation + 1)) / (count + norm);
    }
    return score + top * exactShare(text, identifiers);
  });
}

function rarityOf(found: number, pieces: number): number {
  const all = Math.max(pieces, found);
  return Math.log(1 + (all - found + 0.5) / (found + 0.5));
}

function countTerms(text: string, terms: readonly Term[]): { counts: number[]; length: number } {
  const counts = terms.map(() => 0);
  const words = searchText(text).split(' ');
  const known = new Map<string, number>();
  for (const word of words) known.set(word, (known.get(word) ?? 0) + 1);
  for (const [word, times] of known) {
    for (const [index, { word: asked, stem, isExact }] of terms.entries()) {
      if (!word.startsWith(stem)) continue;
      const weight =
        word === asked ? weights.word : isExact ? 0 : stemOf(word) === stem ? weights.form : weights.prefix;
      counts[index] = (counts[index] ?? 0) + times * weight;
    }
  }
  return { counts, length: words.length };
}

/** The share of the identifiers that occur as they are typed, not as a part of a longer one. */
function exactShare(text: string, identifiers: readonly Identifier[]): number {
  if (identifiers.length === 0) return 0;
  const lower = text.toLowerCase();
  return identifiers.filter(({ text }) => placeOf(lower, text) !== -1).length / identifiers.length;
}

const mostLooks = 200;

/** The index of the identifier in a text in lower case, not as a part of a longer one; -1 if there is none. */
export function placeOf(text: string, identifier: string): number {
  let at = text.indexOf(identifier);
  for (let looks = 0; at !== -1 && looks < mostLooks; looks += 1) {
    const around = `${text[at - 1] ?? ' '}${text[at + identifier.length] ?? ' '}`;
    if (!/[\p{L}\p{N}]/u.test(around)) return at;
    at = text.indexOf(identifier, at + 1);
  }
  return -1;
}
