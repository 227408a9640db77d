import ipaddr from 'ipaddr.js';

/** Which addresses may set x-forwarded-for (setting TRUSTED_PROXIES). */
export type TrustedProxies = (address: string) => boolean;

/** The answer of GET /api/live has this header if the request had a forwarding header that was ignored. */
export const ignoredProxyHeader = 'x-homeport-ignored-proxy';

type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Parses `address/bits` or a bare address; null when it is neither. */
export function parseCidr(text: string): Cidr | null {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    return null;
  }
}

/** Compiles the setting; addresses are compared after IPv4-mapped IPv6 is unwrapped. */
export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const ranges = cidrs.map(parseCidr).filter((range) => range !== null);
  return (address) => {
    if (ranges.length === 0 || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits));
  };
}

/** The client behind trusted proxies: the last address in the chain that is not a trusted proxy. */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: TrustedProxies): string {
  const own = ipaddr.isValid(peer) ? ipaddr.process(peer).toString() : peer;
  if (forwardedFor === null || !trusted(own)) return own;
  let address = own;
  for (const hop of forwardedFor.split(',').reverse()) {
    const text = hop.trim();
    if (!ipaddr.isValid(text)) return address;
    address = ipaddr.process(text).toString();
    if (!trusted(address)) return address;
  }
  return address;
}

/** The bucket that an address is counted in: an IPv6 /64 belongs to one customer. */
export function addressBucket(address: string): string {
  return networkOf(address, { ipv4: 32, ipv6: 64 });
}

/** The wider network that takes turns as one: an IPv4 /24, an IPv6 /48. */
export function addressRegion(address: string): string {
  return networkOf(address, { ipv4: 24, ipv6: 48 });
}

/** As text, at whole groups: `203.0.113.0/24`, `2001:db8:1::/48`; a single IPv4 address as itself. */
function networkOf(address: string, bits: { ipv4: number; ipv6: number }): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv6') {
    return `${parsed
      .toNormalizedString()
      .split(':')
      .slice(0, bits.ipv6 / 16)
      .join(':')}::/${bits.ipv6}`;
  }
  if (bits.ipv4 === 32) return parsed.toString();
  return `${parsed
    .toString()
    .split('.')
    .slice(0, bits.ipv4 / 8)
    .join('.')}.0/${bits.ipv4}`;
}
