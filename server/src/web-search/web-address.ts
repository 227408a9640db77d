import { isPrivateAddress } from '../egress/destination.ts';

/** Addresses of web pages: stricter than the outbound guard, since anybody on the web can write one. */

export const webAddressMax = 2048;

/** Ports of other protocols, which a page has no reason to be at (the Fetch Standard's list above 1,023). */
const refusedPorts = new Set([1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6697, 10080]);
const webPorts = new Set([80, 443]);
const reservedPorts = 1024;

/**
 * The address if it is an absolute http or https URL of at most 2,048 characters, without credentials, at a port where
 * pages are; otherwise undefined. Without its fragment.
 */
export function findWebAddress(raw: string, base?: URL): URL | undefined {
  const text = raw.trim();
  if (text.length > webAddressMax || !text.isWellFormed() || hasControl(text)) return undefined;
  const url = URL.parse(text, base?.href);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  if (url.username !== '' || url.password !== '' || url.href.length > webAddressMax) return undefined;
  if (url.port !== '' && !isWebPort(Number(url.port))) return undefined;
  url.hash = '';
  return url;
}

/** A page of the web leads to other pages of the web, never into the network of this machine. */
export function mayLeadTo(from: URL, to: URL): boolean {
  return !isPrivateAddress(to.href) || isPrivateAddress(from.href);
}

function isWebPort(port: number): boolean {
  if (port < reservedPorts) return webPorts.has(port);
  return !refusedPorts.has(port) && !(port >= 6665 && port <= 6669);
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x20 || code === 0x7f) return true;
  }
  return false;
}
