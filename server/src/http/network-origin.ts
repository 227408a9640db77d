import { existsSync } from 'node:fs';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { isLoopbackHost } from '@homeport/contracts/text/loopback';

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** Interfaces of containers and virtual machines on this machine. */
const virtual = /^(docker|br-|veth|virbr|cni|flannel|vmnet|vboxnet|podman)/;
/** Addresses without a DHCP server (RFC 3927). */
const selfAssigned = /^169\.254\./;

/**
 * The origin at which other devices of the network reach this server, for a loopback `origin`. Undefined if it listens
 * on loopback only, has a configured address, or has no address in a network that can be known.
 */
export function networkOrigin(
  { baseUrl, host }: { baseUrl: string | undefined; host: string },
  origin: string,
  interfaces: Interfaces = ownInterfaces(),
): string | undefined {
  const url = new URL(origin);
  if (baseUrl !== undefined || (host !== '0.0.0.0' && host !== '::') || !isLoopbackHost(url.hostname)) return undefined;
  for (const [name, addresses = []] of Object.entries(interfaces)) {
    if (virtual.test(name)) continue;
    const found = addresses.find(
      ({ family, internal, address }) => family === 'IPv4' && !internal && !selfAssigned.test(address),
    );
    if (found) return `http://${found.address}${url.port === '' ? '' : `:${url.port}`}`;
  }
  return undefined;
}

/** A container's own addresses are unknown to the network around its host. */
function ownInterfaces(): Interfaces {
  return existsSync('/.dockerenv') || existsSync('/run/.containerenv') ? {} : networkInterfaces();
}
