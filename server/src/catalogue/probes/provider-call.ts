import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { trimEndOf } from '@homeport/contracts/text/trim-characters';
import type { Credentials } from '../credentials.ts';

/** Path segment of each protocol between base URL and path, unless the base URL already ends in a version. */
const versions: Record<ProviderKind, string> = {
  openai: '',
  'openai-responses': '',
  anthropic: '/v1',
  gemini: '/v1beta',
};

type HeaderRule = { fixed: Record<string, string>; ofKey: (apiKey: string) => [name: string, value: string] };

const bearer: HeaderRule = { fixed: {}, ofKey: (apiKey) => ['authorization', `Bearer ${apiKey}`] };

/** Headers that each protocol requires besides the custom ones. */
const headerRules: Record<ProviderKind, HeaderRule> = {
  openai: bearer,
  'openai-responses': bearer,
  anthropic: { fixed: { 'anthropic-version': '2023-06-01' }, ofKey: (apiKey) => ['x-api-key', apiKey] },
  gemini: { fixed: {}, ofKey: (apiKey) => ['x-goog-api-key', apiKey] },
};

/** The address below a base URL (control-plane-api.md "Provider"), keeping its query. `path` may have its own query. */
export function providerUrl(kind: ProviderKind, baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  const [pathname = '', query] = path.split('?');
  const base = trimEndOf(url.pathname, '/');
  url.pathname = `${base}${/\/v\d[a-z0-9]{0,10}$/.test(base) ? '' : versions[kind]}${pathname}`;
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  return url.href;
}

/**
 * The headers of a call, in lower case: the key as the protocol requires it, and custom headers, which take precedence.
 */
export function providerHeaders(kind: ProviderKind, credentials: Credentials): Record<string, string> {
  const { fixed, ofKey } = headerRules[kind];
  const headers = new Map(Object.entries(fixed));
  const { apiKey } = credentials;
  if (apiKey !== undefined) headers.set(...ofKey(apiKey));
  for (const [name, value] of Object.entries(credentials.headers)) headers.set(name.toLowerCase(), value);
  return Object.fromEntries(headers);
}
