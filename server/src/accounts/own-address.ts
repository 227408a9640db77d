/**
 * An address of this installation as sent to a browser; undefined for any other. It is checked again after serializing,
 * because `/..//host` becomes `//host`, which is a foreign host.
 */
export function ownAddress(address: string, origin: string): string | undefined {
  const url = URL.parse(address, origin);
  if (url === null || url.origin !== origin) return undefined;
  const path = url.pathname + url.search + url.hash;
  if (path.startsWith('//') || URL.parse(path, origin)?.origin !== origin) return undefined;
  return address.startsWith('/') ? path : origin + path;
}

/** The address with `error=<code>` in place of any earlier error. */
export function withError(address: string, origin: string, code: string): string {
  const url = new URL(address, origin);
  url.searchParams.delete('error_description');
  url.searchParams.set('error', code);
  return ownAddress(address.startsWith('/') ? url.pathname + url.search + url.hash : url.href, origin) ?? '/';
}
