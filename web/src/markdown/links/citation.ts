/** A piece of text, or a citation of a page in a file, as models are asked to write it: `[plan.pdf, page 3]`. */
export type CitedText = string | { raw: string; name: string; at: string };

const citation =
  /\[([^[\]\n,]{1,259}(?:,[^[\]\n,]{1,250}){0,8}), ((?:pages?|p\.|part|slide|chapter|sheet)\s[^[\]\n]{1,200}|\d{1,6})\]/gi;
/** Longer texts are not looked through: no paragraph is that long. */
const longestText = 50_000;

export function citedTexts(text: string): CitedText[] {
  if (text.length > longestText || !text.includes('[')) return [text];
  const pieces: CitedText[] = [];
  let end = 0;
  for (const match of text.matchAll(citation)) {
    const [raw, name = '', at = ''] = match;
    if (!/\.[a-z0-9]{1,8}$/i.test(name)) continue;
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push({ raw, name, at });
    end = match.index + raw.length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}
