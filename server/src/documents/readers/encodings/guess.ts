import { type Alphabet, allCommon, alphabets, punctuation, scripts } from './alphabets.ts';
import { decodeAs } from './decoders.ts';

/** Bytes that are looked at. */
const looked = 64 * 1024;
/** The least share of common characters with which a text is taken for one of two bytes a character. */
const leastCommon = 0.35;
/** A character that a language does not use counts against it this many times. */
const strangeWeight = 2;
/** The most common encoding wins where a text is too short to tell. */
const usual = 'windows-1252';
const usualBonus = 0.25;

/** The encoding of bytes without a mark that are not UTF-8, by the characters that are common in each language. */
export function guessEncoding(bytes: Uint8Array): string {
  const head = bytes.subarray(0, looked);
  return bestWide(head) ?? bestDouble(head) ?? bestSingle(head);
}

/** UTF-16 without a mark, in text that has few characters of ASCII. */
function bestWide(head: Uint8Array): string | undefined {
  if (head.length % 2 === 1 && head.length < looked) return undefined;
  return best(['utf-16le', 'utf-16be'], leastWide, (name) => {
    const signs = [...(decoded(name, head) ?? '')];
    return signs.filter((sign) => (sign < '\u007f' ? isPlain(sign) : allCommon.has(sign))).length / signs.length;
  });
}

const leastWide = 0.5;

function isPlain(sign: string): boolean {
  return sign >= ' ' || sign === '\n' || sign === '\r' || sign === '\t';
}

function bestDouble(head: Uint8Array): string | undefined {
  const commonOf = new Map(
    scripts.flatMap(({ encodings, common }) => {
      const signs = new Set(common);
      return encodings.map((name) => [name, signs] as const);
    }),
  );
  return best([...commonOf.keys()], leastCommon, (name) => {
    const signs = [...beyondAscii(decoded(name, head) ?? '')];
    const common = signs.filter((sign) => commonOf.get(name)?.has(sign) === true).length;
    // One common character is chance, unless there is no other.
    return common === 1 && signs.length > 1 ? 0 : common / Math.max(1, signs.length);
  });
}

function bestSingle(head: Uint8Array): string {
  const names = new Set(alphabets.flatMap(({ encodings }) => encodings));
  const texts = new Map([...names].map((name) => [name, [...decodeAs(name, head)]]));
  let found = { name: usual, score: Number.NEGATIVE_INFINITY };
  for (const alphabet of alphabets) {
    const weights = weightsOf(alphabet);
    for (const name of alphabet.encodings) {
      const score = fit(texts.get(name) ?? [], weights, alphabet.script) + (name === usual ? usualBonus : 0);
      if (score > found.score) found = { name, score };
    }
  }
  return found.name;
}

/** The mean weight of the letters in a text of their language is about 1. */
function weightsOf({ letters, script }: Alphabet): Map<string, number> {
  const weights = new Map([...punctuation].map((sign) => [sign, script === 'latin' ? 1 : 0.5]));
  const all = [...letters];
  for (const [rank, letter] of all.entries()) {
    const weight = script === 'latin' ? 1 : (2 - (2 * rank) / all.length) / 1.4;
    const capital = letter.toUpperCase();
    // A capital letter of one Cyrillic encoding is a small one of another, and small ones are more common.
    if (capital !== letter) weights.set(capital, script === 'cyrillic' ? 0.8 * weight : weight);
    weights.set(letter, weight);
  }
  return weights;
}

/** The weights of all characters beyond ASCII, less those that the language does not use, or not at this place. */
function fit(signs: readonly string[], weights: Map<string, number>, script: Alphabet['script']): number {
  let score = 0;
  for (let at = 0; at < signs.length; at += 1) {
    const sign = signs[at] ?? '';
    if (sign <= '\u007f') continue;
    const isMisplaced = script === 'latin' ? isLonely : isMixed;
    score += isLetter(sign) && isMisplaced(signs, at) ? -strangeWeight : (weights.get(sign) ?? -strangeWeight);
  }
  return score;
}

/** Words of other scripts have no Latin letters, and no capital letter follows a small one. */
function isMixed(signs: readonly string[], at: number): boolean {
  const [before = '', sign = '', after = ''] = [signs[at - 1], signs[at], signs[at + 1]];
  return isAsciiLetter(before) || isAsciiLetter(after) || (isSmall(before) && isCapital(sign));
}

/** Words of Latin letters are mostly of ASCII, and no capital letter follows a small one. */
function isLonely(signs: readonly string[], at: number): boolean {
  const [sign = '', before = '', first = ''] = [signs[at], signs[at - 1], signs[at - 2]];
  if (isSmall(before) && isCapital(sign)) return true;
  return isLetter(before) && before > '\u007f' && isLetter(first) && first > '\u007f';
}

function isLetter(sign: string): boolean {
  return /[\p{L}\p{M}]/u.test(sign);
}

function isAsciiLetter(sign: string): boolean {
  return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z');
}

function isSmall(sign: string): boolean {
  return sign !== sign.toUpperCase();
}

function isCapital(sign: string): boolean {
  return sign !== sign.toLowerCase();
}

function best(names: readonly string[], least: number, scoreOf: (name: string) => number): string | undefined {
  let found: { name?: string; score: number } = { score: least };
  for (const name of names) {
    const score = scoreOf(name);
    if (score > found.score) found = { name, score };
  }
  return found.name;
}

/** Undefined where the bytes are not valid in this encoding; a character that the end cuts off is no fault. */
function decoded(name: string, head: Uint8Array): string | undefined {
  try {
    return new TextDecoder(name, { fatal: true }).decode(head, { stream: true });
  } catch {
    return undefined;
  }
}

function beyondAscii(text: string): string {
  return text.replace(/[\0-\x7f]+/g, '');
}
