import dns from 'node:dns/promises';
import net from 'node:net';
import tls from 'node:tls';
import { canonicalAddress, classifyAddress } from './addresses.ts';
import {
  assertPermitted,
  assertPermittedClass,
  type EgressPolicy,
  hostOf,
  isLocalhost,
  isPrivateName,
  parseDestination,
} from './destination.ts';
import { blockedDestination, reasonOf, unreachable } from './failures.ts';
import { createProxyChoice, type ProxyAddress, type ProxySettings } from './outbound-proxy/outbound-proxy.ts';
import { openTunnel } from './outbound-proxy/proxy-tunnel.ts';

export type GuardOptions = EgressPolicy &
  ProxySettings & {
    /** Resolves a name to all its addresses; tests pass their own. */
    lookup?: (hostname: string) => Promise<string[]>;
    /** Additional certificate authorities in PEM, besides Node's. */
    tlsCa?: string[];
  };

export type SocketTarget = {
  secure: boolean;
  hostname: string;
  port: number;
  /** Its user makes a secure connection inside it; here it is plain. */
  tunnel?: boolean;
};
type SocketCallback = (error: Error | null, socket: net.Socket | null) => void;

/** The checks before, and the connections behind, every outbound call. */
export type Guard = {
  /** Parses an address from outside; throws `blocked_destination`. Callers connect to the returned URL. */
  check(raw: string, base?: URL): URL;
  /**
   * Opens a connection to an address checked in this very call: the literal, or each answer of one lookup; the peer is
   * checked again before a byte is written. A proxy is asked for such an address, never for a name. Passes on a ready
   * socket, or an ApiError of phase `connect`.
   */
  openSocket(target: SocketTarget, callback: SocketCallback): void;
};

const connectTimeoutMs = 30_000;
const attemptTimeoutMs = 1_000;
const loopback = ['127.0.0.1', '::1'];
/** How many addresses of one name are tried through a proxy. */
const mostTunnels = 4;

export function createGuard(options: GuardOptions): Guard {
  const secureContext = createSecureContext(options.tlsCa ?? []);
  const resolve = shareLookups(options.lookup ?? systemLookup);
  const chooseProxy = createProxyChoice(options);

  const permittedAddresses = async (host: string): Promise<string[]> => {
    if (net.isIP(host) !== 0) return [host];
    if (isLocalhost(host)) return loopback;
    const addresses = await resolve(host).catch((error: unknown) => {
      if (isPrivateName(host) && !options.allowPrivateEgress) throw blockedDestination();
      throw unreachable(reasonOf(error) === 'timeout' ? 'timeout' : 'dns', 'connect');
    });
    if (addresses.length === 0) throw unreachable('dns', 'connect');
    for (const address of addresses) assertPermittedClass(options, classifyAddress(address));
    return addresses;
  };

  return {
    check(raw, base) {
      const url = parseDestination(raw, base);
      if (url === undefined) throw blockedDestination();
      assertPermitted(options, url.protocol === 'https:', hostOf(url.hostname));
      return url;
    },
    openSocket(target, callback) {
      const host = hostOf(target.hostname);
      const open = async () => {
        assertPermitted(options, target.secure, host);
        const timer = AbortSignal.timeout(connectTimeoutMs);
        const addresses = await beforeTimeout(permittedAddresses(host), timer);
        const checked = { ...target, hostname: host };
        const proxy = chooseProxy(checked, addresses);
        if (proxy === undefined) return dial(checked, addresses, secureContext, timer);
        return dialThrough(proxy, checked, addresses, secureContext, timer);
      };
      open().then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error instanceof Error ? error : unreachable('reset', 'connect'), null),
      );
    },
  };
}

function dial(
  target: SocketTarget,
  addresses: string[],
  secureContext: tls.SecureContext,
  timer: AbortSignal,
): Promise<net.Socket> {
  const connection = {
    host: target.hostname,
    port: target.port,
    lookup: pinnedLookup(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  };
  const socket = isTls(target)
    ? tls.connect({ ...connection, ...tlsOptions(target, secureContext) })
    : net.connect(connection);
  const permitted = new Set(addresses.map(canonicalAddress));
  return whenReady(socket, isTls(target) ? 'secureConnect' : 'connect', timer, (fail) => {
    // Ahead of Node's own listener, which would begin the TLS handshake.
    socket.prependOnceListener('connect', () => {
      const peer = socket.remoteAddress;
      if (peer === undefined || !permitted.has(canonicalAddress(peer))) fail(blockedDestination());
    });
  });
}

/**
 * Asks the proxy for one checked address after the other; TLS is with the target, whose certificate is checked as
 * usual.
 */
async function dialThrough(
  proxy: ProxyAddress,
  target: SocketTarget,
  addresses: string[],
  secureContext: tls.SecureContext,
  timer: AbortSignal,
): Promise<net.Socket> {
  let failure: unknown = unreachable('unreachable', 'connect');
  for (const address of addresses.slice(0, mostTunnels)) {
    try {
      const tunnel = await openTunnel(proxy, { address, port: target.port }, secureContext, timer);
      if (!isTls(target)) return tunnel;
      const socket = tls.connect({ socket: tunnel, host: target.hostname, ...tlsOptions(target, secureContext) });
      return await whenReady(socket, 'secureConnect', timer);
    } catch (error) {
      failure = error;
      if (timer.aborted) break;
    }
  }
  throw failure;
}

function isTls(target: SocketTarget): boolean {
  return target.secure && target.tunnel !== true;
}

function tlsOptions({ hostname }: SocketTarget, secureContext: tls.SecureContext): tls.ConnectionOptions {
  const servername = net.isIP(hostname) === 0 ? { servername: hostname } : {};
  return { secureContext, ALPNProtocols: ['http/1.1'], ...servername };
}

/** Resolves with the socket at its event; destroys it if it fails or is late. */
function whenReady(
  socket: net.Socket,
  event: 'connect' | 'secureConnect',
  timer: AbortSignal,
  begin: (fail: (error: unknown) => void) => void = () => undefined,
): Promise<net.Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  const fail = (error: unknown) => {
    socket.destroy();
    reject(error);
  };
  const onTimeout = () => fail(unreachable('timeout', 'connect'));
  const onError = (error: unknown) => fail(unreachable(reasonOf(error), 'connect', error));
  const onClose = () => fail(unreachable('reset', 'connect'));
  timer.addEventListener('abort', onTimeout);
  socket.on('error', onError);
  socket.on('close', onClose);
  begin(fail);
  socket.once(event, () => {
    if (socket.destroyed) return;
    timer.removeEventListener('abort', onTimeout);
    socket.off('error', onError);
    socket.off('close', onClose);
    resolve(socket);
  });
  return promise;
}

// Node calls this instead of DNS, so nothing can change between the check and the connection.
function pinnedLookup(addresses: string[]): net.LookupFunction {
  const answers = addresses.map((address) => ({ address, family: net.isIP(address) }));
  return (_hostname, lookupOptions, callback) => {
    const [first] = answers;
    if (first === undefined) callback(new Error('no address'), '', 0);
    else if (lookupOptions.all) callback(null, answers);
    else callback(null, first.address, first.family);
  };
}

async function systemLookup(hostname: string): Promise<string[]> {
  const answers = await dns.lookup(hostname, { all: true, order: 'verbatim' });
  return answers.map((answer) => answer.address);
}

// Looks one name up once at a time: a resolver that hangs ties up one thread per name, not one per call.
function shareLookups(lookup: (hostname: string) => Promise<string[]>): (hostname: string) => Promise<string[]> {
  const running = new Map<string, Promise<string[]>>();
  return (hostname) => {
    const known = running.get(hostname);
    if (known !== undefined) return known;
    const started = lookup(hostname).finally(() => running.delete(hostname));
    running.set(hostname, started);
    return started;
  };
}

function beforeTimeout<T>(work: Promise<T>, timer: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const onTimeout = () => reject(unreachable('timeout', 'connect'));
  timer.addEventListener('abort', onTimeout);
  work.then(resolve, reject).finally(() => timer.removeEventListener('abort', onTimeout));
  return promise;
}

// Created once: reading the authorities for every connection costs milliseconds and megabytes.
function createSecureContext(further: string[]): tls.SecureContext {
  if (further.length === 0) return tls.createSecureContext();
  return tls.createSecureContext({ ca: [...tls.getCACertificates('default'), ...further] });
}
