/** Pieces of a text, with the quoted words as pieces of their own. */
type MarkedPiece = { text: string; isQuote: boolean };

const quotesMax = 50;
const marks = '"\'`\u00ab\u00bb\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a\u300c\u300d\u300e\u300f';

/** Finds quotes in a text as the server compares them: any white space and any quotation marks are alike. */
export function markQuotes(text: string, quotes: readonly string[]): MarkedPiece[] {
  const folded = foldWithPlaces(text);
  const places = quotes.slice(0, quotesMax).flatMap((quote) => {
    const words = foldWithPlaces(quote.trim()).text;
    const at = words === '' ? -1 : folded.text.indexOf(words);
    if (at === -1) return [];
    return [{ start: folded.places[at] ?? 0, end: (folded.places[at + words.length - 1] ?? text.length - 1) + 1 }];
  });
  const pieces: MarkedPiece[] = [];
  let from = 0;
  for (const { start, end } of places.toSorted((a, b) => a.start - b.start)) {
    if (start < from) continue;
    if (start > from) pieces.push({ text: text.slice(from, start), isQuote: false });
    pieces.push({ text: text.slice(start, end), isQuote: true });
    from = end;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isQuote: false });
  return pieces;
}

/** The last of these quotes that is in the text before a number. */
export function quoteBefore(text: string, quotes: readonly { text: string; found: boolean }[]): string | undefined {
  const folded = foldWithPlaces(text).text;
  const places = quotes.slice(0, quotesMax).flatMap((quote) => {
    const words = foldWithPlaces(quote.text.trim()).text;
    return quote.found && words !== '' ? [{ text: quote.text, at: folded.lastIndexOf(words) }] : [];
  });
  return places.filter(({ at }) => at !== -1).toSorted((a, b) => b.at - a.at)[0]?.text;
}

export function areSameWords(one: string, other: string): boolean {
  return foldWithPlaces(one.trim()).text === foldWithPlaces(other.trim()).text;
}

/** The folded text, and where each of its characters is in the original. */
function foldWithPlaces(text: string): { text: string; places: number[] } {
  let folded = '';
  const places: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const isSpace = character.trim() === '';
    if (isSpace && folded.endsWith(' ')) continue;
    folded += isSpace ? ' ' : marks.includes(character) ? '"' : character;
    places.push(at);
  }
  return { text: folded, places };
}
