import type { SearchReason } from '../search-error.ts';

/** The five search services as data: a request for a query, and the results in a response. */

export type Freshness = 'day' | 'week' | 'month' | 'year';

export type SearchQuery = {
  query: string;
  count: number;
  /** Language tag like `de` or `pt-BR`. */
  language?: string;
  freshness?: Freshness;
  /** Only results of these hosts. */
  domains: readonly string[];
  /** The present time in milliseconds. */
  now: number;
};

/** A result as a service writes it; nothing in it is checked. */
export type RawResult = { url: unknown; title: unknown; text: unknown; publishedAt?: unknown };

/** `body` is JSON of a POST request; without it, the request is a GET. */
type ServiceRequest = { path: string; headers: Record<string, string>; body?: Record<string, unknown> };

export type SearchService = {
  /** Used unless the settings name another one; SearXNG has none. */
  origin?: string;
  needsKey: boolean;
  request(query: SearchQuery, apiKey: string | undefined): ServiceRequest;
  /** The results of a parsed response; undefined if it is not a response of this service. */
  read(response: unknown): RawResult[] | undefined;
  /** Meanings of statuses that differ between services. */
  statuses?: Readonly<Record<number, SearchReason>>;
  /** Meaning of a page of HTML in place of JSON. */
  html?: SearchReason;
};

/** The query with a filter by host, for services that have none of their own. */
export function withSites({ query, domains }: SearchQuery): string {
  if (domains.length === 0) return query;
  return `${query} ${domains.map((domain) => `site:${domain}`).join(' OR ')}`;
}

/** A path with the given parameters. */
export function pathWith(path: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${path}?${new URLSearchParams(given)}`;
}

export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** Objects of a list; undefined for anything but a list. */
export function listOf(value: unknown): object[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((each): each is object => typeof each === 'object' && each !== null);
}

/** Results of a list whose members have these names. Null is an empty list, as some services write it. */
export function resultsIn(list: unknown, names: { text: string; publishedAt: string }): RawResult[] | undefined {
  if (list === null) return [];
  return listOf(list)?.map((each) => ({
    url: memberOf(each, 'url'),
    title: memberOf(each, 'title'),
    text: memberOf(each, names.text),
    publishedAt: memberOf(each, names.publishedAt),
  }));
}
