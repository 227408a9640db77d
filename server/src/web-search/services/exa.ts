import { type Freshness, memberOf, resultsIn, type SearchService } from './service.ts';

const days: Record<Freshness, number> = { day: 1, week: 7, month: 31, year: 366 };
const textMax = 1_000;

/** Exa Search, with the beginning of each page's text. */
export const exa: SearchService = {
  origin: 'https://api.exa.ai',
  needsKey: true,
  request({ query, count, freshness, domains, now }, apiKey) {
    return {
      path: '/search',
      headers: { 'x-api-key': apiKey ?? '' },
      body: {
        query,
        numResults: count,
        contents: { text: { maxCharacters: textMax } },
        ...(freshness === undefined ? {} : { startPublishedDate: daysBefore(now, days[freshness]) }),
        ...(domains.length === 0 ? {} : { includeDomains: domains }),
      },
    };
  },
  read: (response) => resultsIn(memberOf(response, 'results'), { text: 'text', publishedAt: 'publishedDate' }),
};

function daysBefore(now: number, count: number): string {
  return new Date(now - count * 86_400_000).toISOString();
}
