import { failureDetails } from '../egress/failures.ts';
import type { EgressResponse } from '../egress/http-client.ts';
import { isRedirect } from '../egress/redirects.ts';
import type { Platform } from '../platform.ts';
import { PageRefused } from './page-reader.ts';
import { findWebAddress, mayLeadTo } from './web-address.ts';

/** A page as it came: `url` is that of the last hop. */
export type FetchedPage = {
  url: string;
  kind: 'html' | 'text' | 'document';
  charset: string | undefined;
  bytes: Uint8Array;
};

/** Limits of one page, with all its redirects. */
export const pageBounds = {
  totalMs: 10_000,
  connectMs: 5_000,
  idleMs: 5_000,
  bodyBytes: 8 * 1024 * 1024,
  redirects: 5,
};
const htmlTypes = /^(?:text\/html|application\/xhtml\+xml)$/;
const textTypes =
  /^(?:text\/.*|application\/(?:[\w.-]+\+)?(?:json|xml|yaml)|application\/(?:x-)?(?:javascript|ndjson))$/;
const mediaTypes = /^(?:image|audio|video|font|model)\//;
const htmlStart = /^\s*(?:<!--[^>]{0,200}-->\s*)?<(?:!doctype\s+html|html|head|body)[\s>]/i;
const looked = 1024;

type FetchDeps = Pick<Platform, 'egress' | 'clock' | 'config'>;

/**
 * Fetches a page with GET, through the outbound guard at every hop. Throws PageRefused, `blocked_destination` and the
 * signal's reason.
 */
export async function fetchPage(
  deps: FetchDeps,
  address: URL,
  language: string | null,
  signal: AbortSignal,
  bounds: typeof pageBounds = pageBounds,
): Promise<FetchedPage> {
  const deadline = deps.clock.elapsed() + bounds.totalMs;
  let url = address;
  for (let redirects = 0; ; redirects += 1) {
    const totalMs = deadline - deps.clock.elapsed();
    const response = await ask(deps, url, language, { ...bounds, totalMs }, signal);
    try {
      const { location } = response.headers;
      if (location === undefined || !isRedirect(response.status, location)) return await receive(response, url);
      if (redirects === bounds.redirects) throw new PageRefused('The address redirects too often.');
      const next = findWebAddress(location, url);
      if (next === undefined || !mayLeadTo(url, next))
        throw new PageRefused('The address redirects to one that is not a page of the web.');
      url = next;
    } finally {
      response.body.destroy();
    }
  }
}

async function ask(
  { egress, config }: FetchDeps,
  url: URL,
  language: string | null,
  bounds: typeof pageBounds,
  signal: AbortSignal,
): Promise<EgressResponse> {
  const { totalMs } = bounds;
  if (totalMs <= 0) throw tooSlow();
  try {
    return await egress.request(url.href, {
      headers: {
        accept: 'text/html, application/xhtml+xml, text/plain, application/pdf;q=0.9, */*;q=0.5',
        'user-agent': `Homeport/${config.version}${config.baseUrl === undefined ? '' : ` (+${config.baseUrl})`}`,
        ...(language === null ? {} : { 'accept-language': `${language}, *;q=0.5` }),
      },
      signal,
      connectTimeoutMs: Math.min(bounds.connectMs, totalMs),
      headersTimeoutMs: totalMs,
      idleTimeoutMs: bounds.idleMs,
      totalTimeoutMs: totalMs,
      maxResponseBytes: bounds.bodyBytes,
      maxRedirects: 0,
    });
  } catch (error) {
    throw asRefusal(error);
  }
}

async function receive(response: EgressResponse, url: URL): Promise<FetchedPage> {
  const { status, headers } = response;
  if (status < 200 || status > 299) throw new PageRefused(statusText(status));
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim());
  const mediaType = type.toLowerCase();
  if (mediaTypes.test(mediaType)) throw new PageRefused('The address is a picture, sound or film, not a page.');
  const bytes = await collect(response);
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter))?.slice('charset='.length);
  return {
    url: url.href,
    kind: kindOf(mediaType, bytes),
    charset: charset?.replaceAll(/["']/g, '').slice(0, 40),
    bytes,
  };
}

function kindOf(mediaType: string, bytes: Uint8Array): FetchedPage['kind'] {
  const head = Buffer.from(bytes.subarray(0, looked)).toString('latin1');
  if (head.startsWith('%PDF-') || head.startsWith('PK\u0003\u0004')) return 'document';
  if (htmlTypes.test(mediaType) || htmlStart.test(head)) return 'html';
  return textTypes.test(mediaType) ? 'text' : 'document';
}

async function collect(response: EgressResponse): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of response.body) chunks.push(Buffer.from(chunk));
  } catch (error) {
    throw asRefusal(error);
  }
  return Buffer.concat(chunks);
}

function asRefusal(error: unknown): unknown {
  const failure = failureDetails(error);
  if (failure === undefined) return error;
  if (failure.reason === 'timeout') return tooSlow();
  if (failure.reason === 'too_large') return new PageRefused('The page is larger than 8 MiB and is not read.');
  return new PageRefused('The page cannot be reached.');
}

function tooSlow(): PageRefused {
  return new PageRefused('The page did not answer in time.');
}

function statusText(status: number): string {
  if (status === 404 || status === 410) return `There is no page at this address (status ${status}).`;
  if (status === 401 || status === 403) return `The page is not open to programs (status ${status}).`;
  if (status === 429) return 'The site allows no more requests for now (status 429).';
  return `The site answered with status ${status}.`;
}
