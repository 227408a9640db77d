import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** Rules for headers between a browser and an untrusted app, in both directions. */

/** A preview's origin for the browser, the app's port, and the origin of our page that shows it. */
export type Place = { origin: string; port: number; from: string };

const cookiesMax = 50;
const cookieLength = 4_096;
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** Names and tokens of the person, of proxies in front of us, and of ways that end here. */
const keptFromApps = new Set([
  ...[...hopByHop, 'authorization', 'cookie', 'expect', 'forwarded', 'host', 'origin', 'referer', 'via'],
  ...['client-ip', 'fastly-client-ip', 'remote-user', 'true-client-ip', 'x-client-ip', 'x-cluster-client-ip'],
  ...['x-real-ip', 'x-request-id', 'x-remote-user', 'x-user', 'x-email', 'x-id-token', 'x-access-token'],
]);
const keptFromAppsBeginning =
  /^(?:cf-|proxy-|remote-|tailscale-|x-(?:amzn-|auth-|authentik-|envoy-|forwarded-|goog-|homeport-|jwt-|ms-|original-|pomerium-|vouch-|webauth-))/;

/** Response headers that would affect other origins than the preview's own, or control a proxy in front of us. */
const keptFromBrowsers = new Set([
  ...[...hopByHop, 'alt-svc', 'clear-site-data', 'content-security-policy', 'expect-ct', 'nel', 'public-key-pins'],
  ...['proxy-authenticate', 'report-to', 'reporting-endpoints', 'service-worker-allowed', 'set-cookie', 'set-cookie2'],
  ...['strict-transport-security', 'www-authenticate', 'x-frame-options', 'x-sendfile', 'x-reproxy-url', 'location'],
  ...['cdn-cache-control', 'surrogate-control', 'cache-control', 'x-lighttpd-send-file', 'x-lighttpd-send-tempfile'],
  ...['x-dns-prefetch-control', 'cross-origin-resource-policy', 'referrer-policy', 'origin-agent-cluster'],
]);
const keptFromBrowsersBeginning = /^(?:access-control-|proxy-|x-accel-|x-litespeed-|x-homeport-)/;

/** The request's headers for the app, which takes itself to be opened at `localhost:<port>`. */
export function headersForApp(headers: IncomingHttpHeaders, { origin, port }: Place): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  const listed = connectionWords(headers.connection);
  for (const [name, value] of Object.entries(headers)) {
    if (keptFromApps.has(name) || keptFromAppsBeginning.test(name) || listed.has(name)) continue;
    if (value !== undefined) kept[name] = value;
  }
  const own = `http://localhost:${port}`;
  const cookie = appCookies(headers.cookie);
  const { referer } = headers;
  return {
    ...kept,
    host: `localhost:${port}`,
    ...(cookie === '' ? {} : { cookie }),
    ...(headers.origin === origin ? { origin: own } : {}),
    ...(referer?.startsWith(`${origin}/`) === true ? { referer: own + referer.slice(origin.length) } : {}),
  };
}

/** The app's response headers for the browser, with what we add. */
export function headersForBrowser(headers: IncomingHttpHeaders, place: Place): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  const listed = connectionWords(headers.connection);
  for (const [name, value] of Object.entries(headers)) {
    if (keptFromBrowsers.has(name) || keptFromBrowsersBeginning.test(name) || listed.has(name)) continue;
    if (value !== undefined) kept[name] = value;
  }
  const cookies = (headers['set-cookie'] ?? []).flatMap(appCookie).slice(0, cookiesMax);
  const policies = withoutAncestors(headers['content-security-policy']);
  const location = ownLocation(headers.location, place);
  return {
    ...kept,
    ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }),
    ...(location === undefined ? {} : { location }),
    'cache-control': privateOnly(headers['cache-control']),
    'content-security-policy': [...policies, ancestors(place.from)].join(', '),
    ...ownHeaders,
  };
}

/** On every response of a preview's origin, the app's and ours. */
export const ownHeaders: OutgoingHttpHeaders = {
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
  'x-dns-prefetch-control': 'off',
  'x-robots-tag': 'noindex',
};

/** Origins that can embed a preview in a frame: itself, and the page that it was opened from. */
export function ancestors(from: string): string {
  return `frame-ancestors 'self' ${from}`;
}

/**
 * Whether another page makes this request: only links and frames lead here from elsewhere. Browsers name the page on
 * every upgrade and every request that changes something.
 */
export function isForeign(headers: IncomingHttpHeaders, origin: string, isUpgrade: boolean): boolean {
  if (isUpgrade || headers.origin !== undefined) return headers.origin !== origin;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  return headers['sec-fetch-mode'] !== 'navigate';
}

function connectionWords(connection: string | undefined): ReadonlySet<string> {
  return new Set(
    (connection ?? '')
      .toLowerCase()
      .split(',')
      .map((word) => word.trim()),
  );
}

/** A name of ours, also with the prefixes that browsers know. */
function isOurCookie(name: string): boolean {
  return /^(?:__host-|__secure-)?homeport\./i.test(name);
}

function appCookies(header: string | undefined): string {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair !== '' && !isOurCookie(pair.replace(/^=\s*/, ''))).join('; ');
}

/** A cookie for this host alone, which also counts in a frame of our page; none if it could be taken for ours. */
function appCookie(line: string): string[] {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const name = pair.slice(0, Math.max(0, pair.indexOf('='))).trim();
  if (name === '' || isOurCookie(name) || line.length > cookieLength) return [];
  const kept = attributes.filter((attribute) => /^(?:expires|max-age|path)=|^httponly$/i.test(attribute));
  return [[pair, ...kept, 'Secure', 'SameSite=None', 'Partitioned'].join('; ')];
}

/** The app's own policies without what would keep it out of our frame or report elsewhere. */
function withoutAncestors(header: string | string[] | undefined): string[] {
  const policies = [header ?? []].flat().flatMap((line) => line.split(','));
  return policies.flatMap((policy) => {
    const kept = policy
      .split(';')
      .filter((directive) => !/^\s*(?:frame-ancestors|report-(?:to|uri))\b/i.test(directive));
    const text = kept.join(';').trim();
    return text === '' ? [] : [text];
  });
}

/** Addresses that the app takes to be its own are so in the browser as well. */
function ownLocation(location: string | undefined, { origin, port }: Place): string | undefined {
  if (location === undefined) return undefined;
  const own = new RegExp(`^https?://(?:localhost|127\\.0\\.0\\.1|0\\.0\\.0\\.0|\\[::1?\\]):${port}(?=[/?#]|$)`, 'i');
  return location.replace(own, origin);
}

/** Shared caches must not store a response that only the owner may see. */
function privateOnly(header: string | undefined): string {
  const words = (header ?? '').split(',').map((word) => word.trim());
  const kept = words.filter((word) => word !== '' && !/^(?:public|private|s-maxage|proxy-revalidate)\b/i.test(word));
  return ['private', ...kept].join(', ');
}
