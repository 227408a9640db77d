import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { trimEndOf } from '@homeport/contracts/text/trim-characters';
import type { Credentials } from './credentials.ts';

/** Path segment of each protocol between base URL and path, unless the base URL already ends in a version. */
const versions: Record<ProviderKind, string> = {
  openai: '',
  'openai-responses': '',
  anthropic: '/v1',
  gemini: '/v1beta',
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
  const headers = new Map<string, string>(kind === 'anthropic' ? [['anthropic-version', '2023-06-01']] : []);
  const { apiKey } = credentials;
  if (apiKey !== undefined) {
    if (kind === 'anthropic') headers.set('x-api-key', apiKey);
    else if (kind === 'gemini') headers.set('x-goog-api-key', apiKey);
    else headers.set('authorization', `Bearer ${apiKey}`);
  }
  for (const [name, value] of Object.entries(credentials.headers)) headers.set(name.toLowerCase(), value);
  return Object.fromEntries(headers);
}
