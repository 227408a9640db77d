import { type Freshness, memberOf, pathWith, resultsIn, type SearchService, withSites } from './service.ts';

const freshnessCodes: Record<Freshness, string> = { day: 'pd', week: 'pw', month: 'pm', year: 'py' };
/** The languages that the service accepts under their plain names; it refuses others. */
const languages = new Set(
  'ar bg bn ca cs da de en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa pl ro ru sk sl sr sv ta te th tr uk vi'.split(
    ' ',
  ),
);

/** Brave Search API, "Web search". A response without `web` has no results. */
export const brave: SearchService = {
  origin: 'https://api.search.brave.com',
  needsKey: true,
  request(query, apiKey) {
    const language = query.language?.split('-')[0]?.toLowerCase() ?? '';
    return {
      path: pathWith('/res/v1/web/search', {
        q: withSites(query),
        count: String(query.count),
        search_lang: languages.has(language) ? language : undefined,
        freshness: query.freshness === undefined ? undefined : freshnessCodes[query.freshness],
        text_decorations: 'false',
      }),
      headers: { 'x-subscription-token': apiKey ?? '' },
    };
  },
  read(response) {
    const web = memberOf(response, 'web');
    if (web === undefined || web === null) return memberOf(response, 'type') === 'search' ? [] : undefined;
    return resultsIn(memberOf(web, 'results'), { text: 'description', publishedAt: 'page_age' });
  },
};
