import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { type AddressClass, classifyAddress } from './addresses.ts';
import { blockedDestination } from './failures.ts';

/** The operator's egress policy (contract.md section 2). */
export type EgressPolicy = { allowPrivateEgress: boolean; allowInsecureHttp: boolean };

const maxUrlLength = 8192;

// Clouds answer these with credentials; they are blocked by name too, since some resolve to public addresses.
const metadataNames = [
  'metadata',
  'instance-data',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data.ec2.internal',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.platformequinix.com',
  'metadata.packet.net',
  'metadata.cloud.ibm.com',
];

// Names that only a private network resolves: a caller must not learn whether one exists here.
const privateSuffixes = ['local', 'localdomain', 'internal', 'intranet', 'private', 'lan', 'home', 'corp', 'home.arpa'];

/**
 * The URL if `raw` is an absolute http or https URL without credentials, control characters or spaces, with a
 * well-formed host and a usable port; otherwise undefined. With a `base`, relative references are allowed.
 */
export function parseDestination(raw: string, base?: URL): URL | undefined {
  if (raw.length > maxUrlLength || !raw.isWellFormed() || hasControlOrSpace(raw) || hasUserinfo(raw)) return undefined;
  const url = URL.parse(raw, base?.href);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  if (url.username !== '' || url.password !== '' || url.port === '0') return undefined;
  return isWellFormedHost(hostOf(url.hostname)) ? url : undefined;
}

/** A host as it is dialled: no brackets, no trailing dot. */
export function hostOf(hostname: string): string {
  if (hostname.startsWith('[') && hostname.endsWith(']')) return hostname.slice(1, -1);
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

/** Throws `blocked_destination` if scheme or host alone, before any lookup, rule the call out. */
export function assertPermitted(policy: EgressPolicy, secure: boolean, host: string): void {
  if (!secure && !policy.allowInsecureHttp) throw blockedDestination();
  const known = classifyHost(host);
  if (known !== undefined) assertPermittedClass(policy, known);
}

/** Throws `blocked_destination` unless the policy allows addresses of this class. */
export function assertPermittedClass(policy: EgressPolicy, found: AddressClass): void {
  if (found === 'never' || (found === 'private' && !policy.allowPrivateEgress)) throw blockedDestination();
}

/** True for `localhost` and its subdomains, which mean the loopback addresses and are never looked up (RFC 6761). */
export function isLocalhost(host: string): boolean {
  return isOrEndsWith(host, 'localhost');
}

/** True if an address names a machine of a private network, as far as its host tells without a lookup. */
export function isPrivateAddress(url: string): boolean {
  const host = hostOf(URL.parse(url)?.hostname ?? '');
  if (isIP(host) !== 0) return classifyAddress(host) === 'private';
  return host !== '' && (isLocalhost(host) || isPrivateName(host));
}

/** True for a name that only a private network can know. */
export function isPrivateName(host: string): boolean {
  return !host.includes('.') || privateSuffixes.some((suffix) => isOrEndsWith(host, suffix));
}

function classifyHost(host: string): AddressClass | undefined {
  if (isIP(host) !== 0) return classifyAddress(host);
  if (!isWellFormedHost(host) || metadataNames.some((name) => isOrEndsWith(host, name))) return 'never';
  return isLocalhost(host) ? 'private' : undefined;
}

function isOrEndsWith(host: string, name: string): boolean {
  const lower = host.toLowerCase();
  return lower === name || lower.endsWith(`.${name}`);
}

function hasControlOrSpace(raw: string): boolean {
  for (let index = 0; index < raw.length; index += 1) {
    const code = raw.charCodeAt(index);
    if (code <= 0x20 || code === 0x7f) return true;
  }
  return false;
}

// The parser drops an empty userinfo ("https://@host"), so the text itself is checked, with the parser's separators.
function hasUserinfo(raw: string): boolean {
  const authority = /^(?:[a-z][a-z0-9+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)/i.exec(raw)?.[1];
  return authority?.includes('@') ?? false;
}

function isWellFormedHost(host: string): boolean {
  if (isIP(host) !== 0) return true;
  return host.length > 0 && host.length <= 253 && host.split('.').every(isWellFormedLabel);
}

// The parser accepts a broken punycode label, and the decoder leaves it as it is.
function isWellFormedLabel(label: string): boolean {
  if (label.length === 0 || label.length > 63) return false;
  if (!label.startsWith('xn--')) return true;
  const decoded = domainToUnicode(label);
  return decoded !== '' && !decoded.startsWith('xn--');
}
