import type { SearchKind } from '@homeport/contracts/search-kinds';
import { failureDetails } from '../egress/failures.ts';
import type { EgressResponse } from '../egress/http-client.ts';
import type { Platform } from '../platform.ts';
import { type SearchReason, searchError } from './search-error.ts';
import { type SearchResult, tidyResults } from './search-results.ts';
import { brave } from './services/brave.ts';
import { exa } from './services/exa.ts';
import { kagi } from './services/kagi.ts';
import { searxng } from './services/searxng.ts';
import { memberOf, type SearchQuery, type SearchService } from './services/service.ts';
import { tavily } from './services/tavily.ts';

const services: Readonly<Record<SearchKind, SearchService>> = { searxng, brave, tavily, exa, kagi };

/** A search service that can be asked. `apiKey` is decrypted for this call only. */
export type SearchAccess = { kind: SearchKind; origin: string; apiKey: string | undefined };

const bounds = { totalMs: 15_000, bodyBytes: 5 * 1024 * 1024, redirects: 3, errorBytes: 64 * 1024 };
const longestWaitSeconds = 31 * 86_400;

/** Origin of a service where the settings name none; empty for SearXNG. */
export function usualOrigin(kind: SearchKind): string {
  return services[kind].origin ?? '';
}

/**
 * Asks the service once. Throws `search_error` with `details.reason`, and `blocked_destination`; no message contains
 * any text of the service.
 */
export async function search(
  deps: Pick<Platform, 'egress' | 'clock'>,
  access: SearchAccess,
  query: Omit<SearchQuery, 'now'>,
  signal: AbortSignal,
): Promise<SearchResult[]> {
  const service = services[access.kind];
  if (service.needsKey && access.apiKey === undefined) throw searchError('key');
  const now = deps.clock.now();
  const request = service.request({ ...query, now }, access.apiKey);
  const { status, text, headers } = await exchange(deps, access, request, signal);
  const parsed = parseJson(text);
  const isFine = status >= 200 && status <= 299;
  const results = isFine && parsed !== undefined ? service.read(parsed) : undefined;
  const isFailure = results?.length === 0 && Boolean(memberOf(parsed, 'error'));
  if (results !== undefined && !isFailure) return tidyResults(results, query.count);
  const reason = parsed === undefined && isFine ? pageReason(service, text) : reasonOf(service, status, parsed);
  const retryAfter = reason === 'quota' ? waitOf(headers['retry-after'], now) : undefined;
  throw searchError(reason, { status, now, ...(retryAfter === undefined ? {} : { retryAfter }) });
}

async function exchange(
  { egress }: Pick<Platform, 'egress'>,
  { origin }: SearchAccess,
  { path, headers, body }: ReturnType<SearchService['request']>,
  signal: AbortSignal,
): Promise<{ status: number; text: string; headers: Record<string, string> }> {
  let response: EgressResponse | undefined;
  try {
    response = await egress.request(`${origin}${path}`, {
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
      totalTimeoutMs: bounds.totalMs,
      maxResponseBytes: bounds.bodyBytes,
      maxRedirects: body === undefined ? bounds.redirects : 0,
    });
    const { status } = response;
    const isFine = status >= 200 && status <= 299;
    // The beginning of an error is enough; a longer one is not worth another failure.
    const text = isFine
      ? await response.body.text(bounds.bodyBytes)
      : await response.body.text(bounds.errorBytes).catch(() => '');
    return { status, text, headers: response.headers };
  } catch (error) {
    throw asSearchError(error);
  } finally {
    response?.body.destroy();
  }
}

/** The guard's refusal and an aborted signal stay as they are. */
function asSearchError(error: unknown): unknown {
  const failure = failureDetails(error);
  if (failure === undefined) return error;
  const isAnswer = ['protocol', 'too_large', 'encoded', 'redirect'].includes(failure.reason);
  return searchError(isAnswer ? 'protocol' : 'unreachable', { cause: error });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pageReason({ html = 'protocol' }: SearchService, text: string): SearchReason {
  return text.trimStart().startsWith('<') ? html : 'protocol';
}

function reasonOf({ statuses = {} }: SearchService, status: number, parsed: unknown): SearchReason {
  const known = statuses[status];
  if (known !== undefined) return known;
  if (status === 401) return 'key';
  if (status === 402 || status === 429) return 'quota';
  if (status >= 500) return 'unreachable';
  const said = errorTextOf(parsed);
  // regex-bound: errorTextOf cuts the text
  if (/quota|credit|exceed|billing|payment|\b(?:rate|usage|plan)\b.{0,20}\blimit/i.test(said)) return 'quota';
  if (/\bapi.?key|token|unauthori[sz]ed|authenticat|authori[sz]ation/i.test(said)) return 'key';
  return status === 403 ? 'key' : 'protocol';
}

/** Error members of a response, for the patterns above only: neither shown nor logged. */
function errorTextOf(parsed: unknown): string {
  const members = ['error', 'errors', 'detail', 'message', 'code', 'tag'].map((name) => memberOf(parsed, name));
  const text = JSON.stringify(members.filter((member) => member !== undefined)) ?? '';
  return text.slice(0, 2_000).replaceAll('_', ' ');
}

/** Seconds until the time of a `retry-after` header, which is a number of seconds or a date. */
function waitOf(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(header.trim()) ? Number(header) : Math.ceil((Date.parse(header) - now) / 1000);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, longestWaitSeconds) : undefined;
}
