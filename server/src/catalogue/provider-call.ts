import type { Credentials } from './credentials.ts';

/** The address beneath a base URL (control-plane-api.md "Provider"); a query of the base URL is kept. */
export function providerUrl(baseUrl: string, path: '/models' | '/chat/completions'): string {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/{1,2048}$/, '')}${path}`;
  return url.href;
}

/** The headers of a call, names in lower case: the key as a bearer token, and custom headers, which win over it. */
export function providerHeaders(credentials: Credentials): Record<string, string> {
  const headers = new Map<string, string>();
  if (credentials.apiKey !== undefined) headers.set('authorization', `Bearer ${credentials.apiKey}`);
  for (const [name, value] of Object.entries(credentials.headers)) headers.set(name.toLowerCase(), value);
  return Object.fromEntries(headers);
}
