import { memberOf, pathWith, resultsIn, type SearchService, withSites } from './service.ts';

/** SearXNG (docs.searxng.org, "Search API"). It answers 403 unless `search.formats` has `json`. */
export const searxng: SearchService = {
  needsKey: false,
  request(query, apiKey) {
    // For instances behind a proxy that checks a token.
    const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    return {
      headers,
      path: pathWith('/search', {
        q: withSites(query),
        format: 'json',
        language: query.language,
        time_range: query.freshness,
        pageno: '1',
      }),
    };
  },
  read: (response) => resultsIn(memberOf(response, 'results'), { text: 'content', publishedAt: 'publishedDate' }),
  statuses: { 403: 'format' },
  html: 'format',
};
