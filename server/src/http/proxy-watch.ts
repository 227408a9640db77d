import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { TrustedProxies } from '../platform/client-address.ts';

/** Requests with forwarding headers from peers that TRUSTED_PROXIES does not name. */

const forwardingHeaders = ['x-forwarded-for', 'forwarded'] as const;
/** Anybody can send these headers, so the log names a few peers only. */
const namedMax = 8;

/** The peer and the first of its forwarding headers; undefined if there is none, or the peer is trusted. */
export function findIgnoredProxy(
  { headers, socket }: IncomingMessage,
  trusted: TrustedProxies,
): { peer: string; header: string } | undefined {
  const header = forwardingHeaders.find((name) => headers[name] !== undefined);
  if (header === undefined) return undefined;
  const peer = socket.remoteAddress ?? '';
  // A unix socket has no address.
  return peer === '' || trusted(peer) ? undefined : { peer, header };
}

/** Returns a function that looks at each request and logs one warning for each untrusted proxy. */
export function watchProxies(trusted: TrustedProxies, log: Pick<Logger, 'warn'>): (incoming: IncomingMessage) => void {
  const named = new Set<string>();
  return (incoming) => {
    if (named.size >= namedMax) return;
    const found = findIgnoredProxy(incoming, trusted);
    if (found === undefined || named.has(found.peer)) return;
    named.add(found.peer);
    log.warn(
      found,
      'a proxy that TRUSTED_PROXIES does not name: everybody behind it shares one address and its sign-in limits. If it is your proxy, add its address (docs/operations.md, "Behind a reverse proxy")',
    );
  };
}
