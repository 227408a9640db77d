import { memberOf, resultsIn, type SearchService } from './service.ts';

/** Tavily Search. 432 and 433 are its statuses for the limits of a plan and of a paid account. */
export const tavily: SearchService = {
  origin: 'https://api.tavily.com',
  needsKey: true,
  request({ query, count, freshness, domains }, apiKey) {
    return {
      path: '/search',
      headers: { authorization: `Bearer ${apiKey ?? ''}` },
      body: {
        query,
        max_results: count,
        topic: 'general',
        ...(freshness === undefined ? {} : { time_range: freshness }),
        ...(domains.length === 0 ? {} : { include_domains: domains }),
      },
    };
  },
  read: (response) => resultsIn(memberOf(response, 'results'), { text: 'content', publishedAt: 'published_date' }),
  statuses: { 432: 'quota', 433: 'quota' },
};
