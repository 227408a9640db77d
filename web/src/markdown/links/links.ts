export type SafeLink = { kind: 'external'; href: string } | { kind: 'artifact'; id: string };

const artifactAddress = /^artifact:\/\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;
const openSchemes = new Set(['http:', 'https:', 'mailto:']);

/**
 * Validates the target of a link in a message: http, https, mailto, or `artifact://<uuid>`. Undefined for everything
 * else, which is shown as text: other schemes run code or open programs, and relative URLs would act on this origin.
 */
export function safeLink(address: string): SafeLink | undefined {
  const artifact = artifactAddress.exec(address.trim());
  if (artifact?.[1]) return { kind: 'artifact', id: artifact[1].toLowerCase() };
  const url = parseAbsolute(address);
  return url && openSchemes.has(url.protocol) ? { kind: 'external', href: url.href } : undefined;
}

/** Validates the URL of a remote image that can be loaded on request. */
export function imageAddress(address: string): URL | undefined {
  const url = parseAbsolute(address);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : undefined;
}

/** Without a base, a relative address does not parse. */
function parseAbsolute(address: string): URL | undefined {
  try {
    return new URL(address.trim());
  } catch {
    return undefined;
  }
}
