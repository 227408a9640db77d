/**
 * An address of this installation as it is sent to a browser, or undefined for any other. It is compared again after it was
 * written out: `/..//host` becomes `//host`, which is somebody else's.
 */
export function ownAddress(address: string, origin: string): string | undefined {
  const url = URL.parse(address, origin);
  if (url === null || url.origin !== origin) return undefined;
  const path = url.pathname + url.search + url.hash;
  if (path.startsWith('//') || URL.parse(path, origin)?.origin !== origin) return undefined;
  return address.startsWith('/') ? path : origin + path;
}

/** The address with `error=<code>` in place of any error that it had. */
export function withError(address: string, origin: string, code: string): string {
  const url = new URL(address, origin);
  url.searchParams.delete('error_description');
  url.searchParams.set('error', code);
  return ownAddress(address.startsWith('/') ? url.pathname + url.search + url.hash : url.href, origin) ?? '/';
}
