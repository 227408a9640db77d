import ipaddr from 'ipaddr.js';

/**
 * Reachability of an address: `public` always, `private` only with ALLOW_PRIVATE_EGRESS, `never` with no setting
 * (link-local, cloud metadata, multicast, reserved, addresses that wrap others).
 */
export type AddressClass = 'public' | 'private' | 'never';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

const neverV4 = ranges(
  '0.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Metadata services outside the link-local range: Alibaba (inside 100.64/10) and the Azure WireServer (a public
  // address).
  '100.100.100.200/32',
  '168.63.129.16/32',
);
const privateV4 = ranges(
  '10.0.0.0/8',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
);

// Metadata services inside unique-local space: AWS and EKS, Oracle, Scaleway, Google.
const neverV6 = ranges(
  'fd00:ec2::/32',
  'fd00:c1::/32',
  'fd00:42::/64',
  'fd20:ce::254/128',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
);
const privateV6 = ranges('::1/128', 'fc00::/7', 'fec0::/10', '64:ff9b:1::/48');
const publicV6 = ranges('2000::/3');
const mappedV4 = ranges('::ffff:0:0/96');
const nat64 = ranges('64:ff9b::/96');

/** The class of an IPv4 or IPv6 address in any textual form; anything else is `never`. */
export function classifyAddress(address: string): AddressClass {
  if (address.includes('%') || !ipaddr.isValid(address)) return 'never';
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv4 ? classifyV4(parsed) : classifyV6(parsed);
}

/** One spelling per address, so that two can be compared; an IPv4 address mapped into IPv6 becomes plain IPv4. */
export function canonicalAddress(address: string): string {
  return ipaddr.process(address).toNormalizedString();
}

function classifyV4(address: ipaddr.IPv4): AddressClass {
  if (within(address, neverV4)) return 'never';
  return within(address, privateV4) ? 'private' : 'public';
}

// IPv6 is an allow-list: only global unicast space is public, and an address that embeds IPv4 is classified by that.
function classifyV6(address: ipaddr.IPv6): AddressClass {
  if (within(address, mappedV4) || within(address, nat64)) return classifyV4(embeddedV4(address));
  if (within(address, neverV6)) return 'never';
  if (within(address, privateV6)) return 'private';
  return within(address, publicV6) ? 'public' : 'never';
}

function embeddedV4(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

function within(address: ipaddr.IPv4 | ipaddr.IPv6, list: Range[]): boolean {
  return list.some((range) => address.match(range));
}

function ranges(...cidrs: string[]): Range[] {
  return cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
}
