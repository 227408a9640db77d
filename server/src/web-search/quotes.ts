/** Quotes in an answer that are followed by the number of a source, and whether the source has these words. */

type Quote = { number: number; text: string };

const quoteMax = 2_000;
const quotesMax = 500;
/** Citations of an answer that are looked at. */
const citationsMax = 5_000;
const citation = /\[(\d{1,6})\]/g;
/** Closing marks by the opening ones that may go with them. */
const openings: Readonly<Record<string, string>> = {
  '"': '"',
  '\u201d': '\u201c\u201e\u201d',
  '\u201c': '\u201e',
  '\u00bb': '\u00ab\u00bb',
  '\u00ab': '\u00bb',
  '\u203a': '\u2039\u203a',
  '\u2039': '\u203a',
  '\u2019': '\u2018\u201a',
  '\u2018': '\u201a',
  "'": "'",
  '\u300d': '\u300c',
  '\u300f': '\u300e',
};
const marks = /["'`\u00ab\u00bb\u2018-\u201f\u2039\u203a\u300c-\u300f]/g;

/** Numbers that an answer cites, each once, at most `most`. */
export function citedNumbers(text: string, most: number): number[] {
  const numbers = new Set<number>();
  for (const [, number] of text.matchAll(citation)) {
    if (numbers.size >= most) break;
    numbers.add(Number(number));
  }
  return [...numbers];
}

/** Words in quotation marks, or a block quote, directly before `[n]`; several numbers in a row share one quote. */
export function findQuotes(answer: string): Quote[] {
  const quotes: Quote[] = [];
  let before: { end: number; text: string | undefined } | undefined;
  let citations = 0;
  for (const match of answer.matchAll(citation)) {
    citations += 1;
    if (quotes.length >= quotesMax || citations > citationsMax) break;
    const gap = before === undefined ? undefined : answer.slice(before.end, match.index);
    const isShared = gap !== undefined && gap.length <= 3 && /^[\s,;]*$/.test(gap);
    const text = isShared ? before?.text : quoteBefore(answer, match.index);
    before = { end: match.index + match[0].length, text };
    if (text !== undefined) quotes.push({ number: Number(match[1]), text });
  }
  return quotes;
}

/** True if the source has these words, whatever white space and quotation marks. */
export function hasWords(foldedSource: string, quote: string): boolean {
  const words = fold(quote);
  return words !== '' && includesWords(foldedSource, words);
}

/**
 * `text.includes(words)` in time proportional to both lengths (Knuth, Morris and Pratt): a page and a quote made of
 * repetitions cost `includes` 105 ms, so that 500 quotes held the event loop for a minute.
 */
function includesWords(text: string, words: string): boolean {
  const fallback = new Int32Array(words.length);
  for (let at = 1, length = 0; at < words.length; at += 1) {
    while (length > 0 && words[at] !== words[length]) length = fallback[length - 1] ?? 0;
    if (words[at] === words[length]) length += 1;
    fallback[at] = length;
  }
  for (let at = 0, length = 0; at < text.length; at += 1) {
    while (length > 0 && text[at] !== words[length]) length = fallback[length - 1] ?? 0;
    if (text[at] === words[length]) length += 1;
    if (length === words.length) return true;
  }
  return false;
}

/** White space as one space, and all quotation marks alike. */
export function fold(text: string): string {
  return text.normalize('NFC').replace(marks, '"').replace(/\s+/g, ' ').trim();
}

function quoteBefore(answer: string, at: number): string | undefined {
  const start = Math.max(0, at - quoteMax - 10);
  const text = answer.slice(start, at).trimEnd();
  return blockQuote(text) ?? markedQuote(text);
}

/** Lines that begin with `>` up to the number, which is on the last of them or on the next line. */
function blockQuote(text: string): string | undefined {
  const lines = text.split('\n');
  const isQuote = (line: string | undefined): boolean => line?.trimStart().startsWith('>') === true;
  let first = lines.length;
  while (first > 0 && isQuote(lines[first - 1])) first -= 1;
  if (first === lines.length) return undefined;
  const words = lines
    .slice(first)
    .map((line) => line.trimStart().replace(/^(?:>\s?)+/, ''))
    .join('\n')
    .trim();
  return words === '' ? undefined : withoutMarks(words);
}

function markedQuote(text: string): string | undefined {
  // A period or comma may stand between the quote and the number.
  const end = /[.,;:!?]$/.test(text) ? text.length - 1 : text.length;
  const opening = openings[text[end - 1] ?? ''];
  if (opening === undefined) return undefined;
  for (let at = end - 2; at >= 0; at -= 1) {
    if (text[at] === '\n' && text[at + 1] === '\n') return undefined;
    if (opening.includes(text[at] ?? '') && isOpening(text, at)) {
      const words = text.slice(at + 1, end - 1).trim();
      return words === '' ? undefined : words;
    }
  }
  return undefined;
}

/** An apostrophe or a closing mark stands after a letter. */
function isOpening(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}.,;:!?]/u.test(text[at - 1] ?? '');
}

function withoutMarks(words: string): string {
  const opening = openings[words.at(-1) ?? ''];
  return opening?.includes(words[0] ?? '') === true && words.length > 2 ? words.slice(1, -1).trim() : words;
}
