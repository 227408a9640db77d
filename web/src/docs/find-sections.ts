/** The index as `scripts/docs/docs-site.mjs` writes it: a section is page, heading, its id, text. */
export type SearchIndex = {
  pages: readonly (readonly [address: string, title: string])[];
  sections: readonly (readonly [page: number, heading: string, id: string, text: string])[];
};

export type Hit = { address: string; title: string; heading: string; excerpt: string };

const shownAtMost = 12;
const excerptLength = 140;
const termsAtMost = 8;

/** The words of a query, in lower case. */
export function termsOf(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  return [...new Set(words)].slice(0, termsAtMost);
}

/** Sections that have every word of the query, best first: words in titles and headings count most. */
export function findSections(index: SearchIndex, query: string): Hit[] {
  const terms = termsOf(query);
  if (terms.length === 0) return [];
  const scored = index.sections.flatMap((section) => {
    const [page, heading, id, text] = section;
    const [address, title] = index.pages[page] ?? ['', ''];
    const score = scoreOf(
      { title: title.toLowerCase(), heading: heading.toLowerCase(), text: text.toLowerCase() },
      terms,
    );
    const hit = { address: heading === '' ? address : `${address}#${id}`, title, heading };
    return score === 0 ? [] : [{ score, text, hit }];
  });
  scored.sort((a, b) => b.score - a.score);
  return scored.slice(0, shownAtMost).map(({ hit, text }) => ({ ...hit, excerpt: excerptOf(text, terms) }));
}

function scoreOf(parts: { title: string; heading: string; text: string }, terms: readonly string[]): number {
  let total = 0;
  for (const term of terms) {
    const score = 12 * placeOf(parts.heading, term) + 8 * placeOf(parts.title, term) + 2 * placeOf(parts.text, term);
    if (score === 0) return 0;
    total += score;
  }
  // The section that is named like the query comes before those that only contain it.
  return parts.heading === terms.join(' ') || parts.title === terms.join(' ') ? total * 2 : total;
}

/** 2 for the beginning of a word, 1 for anywhere else, 0 for nowhere. */
function placeOf(text: string, term: string): number {
  const at = text.indexOf(term);
  if (at < 0) return 0;
  return isWordStart(text, at) || text.includes(` ${term}`) ? 2 : 1;
}

const isWordStart = (text: string, at: number): boolean => at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ');

function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...(places.length === 0 ? [0] : places)) - 40);
  const begin = from === 0 ? 0 : text.indexOf(' ', from) + 1;
  const cut = text.slice(begin, begin + excerptLength);
  return `${begin > 0 ? '… ' : ''}${cut}${begin + excerptLength < text.length ? ' …' : ''}`;
}
