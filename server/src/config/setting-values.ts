import { isIP } from 'node:net';
import { trimEndOf } from '@homeport/contracts/text/trim-characters';
import { parseProxy } from '../egress/outbound-proxy/outbound-proxy.ts';
import { parseCidr } from '../platform/client-address.ts';

/** Parsers for the values of settings; they return undefined, or false, for values that are not accepted. */

/** The least that a key may have. */
export const leastKeyBytes = 32;

/** A bucket and a folder in it; undefined if invalid. */
export function parseS3Location(given: string): { bucket: string; prefix: string } | undefined {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*))?$/.exec(given) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix: trimEndOf(prefix, '/') };
}

/** A Docker engine's socket or address; undefined if it is neither. */
export function parseDockerHost(given: string): { socketPath: string } | { host: string; port: number } | undefined {
  const [, socketPath] = /^unix:\/\/(\/.+)$/.exec(given) ?? [];
  if (socketPath !== undefined) return { socketPath };
  const [, host, port] = /^tcp:\/\/\[?([\w.:-]+?)\]?:(\d{1,5})\/?$/.exec(given) ?? [];
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}

/** `name=value` pairs that are valid Kubernetes labels; undefined if invalid. */
export function parseLabels(given: string): Record<string, string> | undefined {
  const pairs = given.split(',').map((pair) => pair.trim().split('='));
  const name = /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;
  const value = /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;
  const good = pairs.every(([key = '', text = '', more]) => name.test(key) && value.test(text) && more === undefined);
  return good ? Object.fromEntries(pairs) : undefined;
}

export function isDnsLabel(given: string, longest: number): boolean {
  return given.length <= longest && /^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(given);
}

export function isLongEnough(key: string): boolean {
  return Buffer.byteLength(key) >= leastKeyBytes;
}

export function isProxy(given: string): boolean {
  return parseProxy(given) !== undefined;
}

/** An origin; a single trailing slash is accepted. */
export function parseOrigin(given: string): string | undefined {
  if (!/^https?:\/\//.test(given) || !URL.canParse(given)) return undefined;
  const { pathname, search, hash, username, password, origin } = new URL(given);
  return pathname === '/' && `${search}${hash}${username}${password}` === '' ? origin : undefined;
}

/** Why an address that people open is no origin. */
export function adviseOnOrigin(given: string): string | undefined {
  if (!/^https?:\/\//.test(given) || !URL.canParse(given)) return undefined;
  const { pathname, username, password } = new URL(given);
  if (username !== '' || password !== '') return 'leave out the user name and the password';
  if (pathname === '/') return 'end it after the host name or the port';
  return 'Homeport does not run under a path; give it a host name or a port of its own';
}

/** An origin whose first label is a wildcard; over http only below `localhost`. */
export function parsePreviewOrigin(given: string): string | undefined {
  const [, start, rest = ''] = /^(https?:\/\/)\*\.([^*]+)$/.exec(given) ?? [];
  const origin = parseOrigin(`${start}x.${rest}`);
  if (start === undefined || origin === undefined) return undefined;
  const { protocol, hostname } = new URL(origin);
  const isNamed = protocol === 'https:' ? /^x(?:\.[a-z0-9-]+){2,}$/.test(hostname) : hostname === 'x.localhost';
  return isNamed && !/\.\d+$/.test(hostname) ? origin.replace('x.', '*.') : undefined;
}

// ipaddr.js also reads 10 as 0.0.0.10; here that is a mistake.
export function isCidr(entry: string): boolean {
  return isIP(entry.split('/', 1)[0] ?? '') !== 0 && parseCidr(entry) !== null;
}
