import { listOf, memberOf, pathWith, resultsIn, type SearchService, withSites } from './service.ts';

/** Kagi Search API. Results are in `data`, beside entries of other kinds, or in `data.search`. */
export const kagi: SearchService = {
  origin: 'https://kagi.com',
  needsKey: true,
  request(query, apiKey) {
    return {
      path: pathWith('/api/v1/search', { q: withSites(query), limit: String(query.count) }),
      headers: { authorization: `Bot ${apiKey ?? ''}` },
    };
  },
  read(response) {
    const data = memberOf(response, 'data');
    const names = { text: 'snippet', publishedAt: 'published' };
    const mixed = listOf(data)?.filter((entry) => memberOf(entry, 't') === 0 || memberOf(entry, 't') === undefined);
    return resultsIn(data === null ? null : (mixed ?? memberOf(data, 'search')), names);
  },
};
