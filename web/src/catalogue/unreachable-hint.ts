import type { TextId } from '../i18n/i18n.ts';

/**
 * The remedy for an address that cannot be reached. A server on the person's own machine or network may not run; a public
 * one does, so that only a name or the network can be wrong.
 */
export function unreachableHint(reason: unknown, baseUrl: string): TextId | undefined {
  const isOwn = isOwnHost(baseUrl);
  if (reason === 'dns') return isOwn ? 'provider.unknownOwnNameHint' : 'provider.unknownNameHint';
  return isOwn ? 'provider.unreachableHint' : 'provider.unreachablePublicHint';
}

const ownNames = /(^|\.)(localhost|local|lan|internal|home|home\.arpa|test|intranet|corp)$/;
const ownAddresses =
  /^(127|10)\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^169\.254\.|^0\.0\.0\.0$|^\[(::1?|f[cde][0-9a-f]{2}:.*)\]$/;

/** True for a name or address of the person's own machine or network. */
function isOwnHost(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl.trim())) return true;
  const host = new URL(baseUrl.trim()).hostname.replace(/\.$/, '');
  return !/[.:]/.test(host) || ownNames.test(host) || ownAddresses.test(host);
}
