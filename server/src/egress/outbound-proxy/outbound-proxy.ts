import { BlockList, isIP } from 'node:net';
import { hostOf } from '../destination.ts';

/** The proxy that the operator's settings name for outbound calls, and which calls bypass it. */

/** As set; both addresses are those of `parseProxy`. */
export type ProxySettings = {
  httpsProxy?: string;
  httpProxy?: string;
  noProxy?: readonly string[];
};

/** How to reach a proxy. `authorization` is a secret. */
export type ProxyAddress = { secure: boolean; hostname: string; port: number; authorization: string | undefined };

type Target = { secure: boolean; hostname: string; port: number };

/** The proxy for a target and its checked addresses; undefined: connect directly. */
export type ChooseProxy = (target: Target, addresses: readonly string[]) => ProxyAddress | undefined;

/** Loopback never goes through a proxy: there it would be another machine's. */
export function createProxyChoice(settings: ProxySettings): ChooseProxy {
  const [https, http] = [settings.httpsProxy, settings.httpProxy].map((address) =>
    address === undefined ? undefined : parseProxy(address),
  );
  const exceptions = (settings.noProxy ?? []).map(parseException);
  return (target, addresses) => {
    const proxy = target.secure ? https : http;
    if (proxy === undefined || addresses.some((address) => loopback.check(address, familyOf(address))))
      return undefined;
    return exceptions.some((matches) => matches(target, addresses)) ? undefined : proxy;
  };
}

/** A proxy's http or https URL, with or without a user name and password; undefined for anything else. */
export function parseProxy(given: string): ProxyAddress | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined;
  if (`${url.pathname}${url.search}${url.hash}` !== '/') return undefined;
  const secure = url.protocol === 'https:';
  const credentials = decoded(`${url.username}:${url.password}`);
  if (credentials === undefined) return undefined;
  return {
    secure,
    hostname: hostOf(url.hostname),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    authorization: credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

/**
 * True for an entry of NO_PROXY: `*`, a host name with an optional leading `.` or `*.` and an optional port, an
 * address, or a range such as 10.0.0.0/8.
 */
export function isProxyException(entry: string): boolean {
  return (
    entry === '*' ||
    /^(\*?\.)?[\w-]+(\.[\w-]+)*(:\d{1,5})?$/.test(entry) ||
    isIP(unbracketed(entry)) !== 0 ||
    isRange(entry)
  );
}

type Matches = (target: Target, addresses: readonly string[]) => boolean;

function parseException(entry: string): Matches {
  if (entry === '*') return () => true;
  const literal = unbracketed(entry);
  if (isIP(literal) !== 0 || isRange(entry)) {
    const [address = '', bits] = isIP(literal) === 0 ? entry.split('/') : [literal];
    const range = new BlockList();
    const family = familyOf(address);
    range.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
    return (_target, addresses) => addresses.every((found) => range.check(found, familyOf(found)));
  }
  const [, name = '', port] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  return (target) => {
    const host = target.hostname.toLowerCase();
    return (port === undefined || Number(port) === target.port) && (host === name || host.endsWith(`.${name}`));
  };
}

function isRange(entry: string): boolean {
  const [address = '', bits = '', more] = entry.split('/');
  const family = isIP(address);
  return family !== 0 && more === undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

const unbracketed = (entry: string): string => entry.replace(/^\[(.*)\]$/, '$1');
const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
