import { trimEndOf } from '../text/trim-characters.ts';

/** Endpoints below a base URL, which people paste along with it. */
const endpoint =
  /\/(?:chat\/completions|(?<=\/v\d\/)chat|completions|responses|messages(?:\/count_tokens)?|models(?:\/[^/]{1,200}:(?:streamG|g)enerateContent)?|embeddings)\/{0,3}$/i;

/**
 * A base URL without the endpoint at its end: `…/v1/chat/completions` becomes `…/v1`. Of its query only `api-version`
 * stays, which Azure wants in every request. `cut` is the part that was left out.
 */
export function cutEndpoint(address: string): { baseUrl: string; cut: string | undefined } {
  const url = URL.parse(address.trim());
  const found = url === null ? null : endpoint.exec(url.pathname);
  if (url === null || found === null) return { baseUrl: address, cut: undefined };
  url.pathname = url.pathname.slice(0, found.index);
  for (const name of [...url.searchParams.keys()]) if (name !== 'api-version') url.searchParams.delete(name);
  const bare = url.search === '' && url.pathname === '/' ? url.origin : url.href;
  return { baseUrl: bare, cut: trimEndOf(found[0], '/') };
}
