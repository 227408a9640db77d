import type { ServerResponse } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { ApiError } from '@homeport/contracts/errors';
import type { RequestHeaders } from './handler.ts';

/** Decides which origins belong to this installation. */
export type OriginRule = (origin: string, host: string | undefined) => boolean;

/**
 * With BASE_URL, only that origin counts. Without it, any loopback name or IP literal that equals the Host header does:
 * the owner of a name could rebind it to this machine, an address cannot be rebound.
 */
export function originRule(baseUrl: string | undefined): OriginRule {
  if (baseUrl !== undefined) return (origin) => origin === baseUrl;
  return (origin, host) => {
    if (host === undefined || !URL.canParse(origin)) return false;
    const url = new URL(origin);
    if (url.protocol !== 'http:' || url.host !== host.toLowerCase()) return false;
    return url.hostname === 'localhost' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0;
  };
}

/**
 * The origin for addresses that this installation hands out. Without BASE_URL it is the requested address if the rule
 * above accepts it, otherwise the listening one: an invented Host header gets no link to itself.
 */
export function ownOrigin(
  { baseUrl, host }: { baseUrl: string | undefined; host: string },
  request: { headers: Pick<RequestHeaders, 'get'>; outgoing: Pick<ServerResponse, 'socket'> },
): string {
  if (baseUrl !== undefined) return baseUrl;
  const typed = request.headers.get('host') ?? '';
  const origin = `http://${typed.toLowerCase()}`;
  if (URL.canParse(origin) && originRule(undefined)(new URL(origin).origin, new URL(origin).host)) {
    return new URL(origin).origin;
  }
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return new URL(`http://${name}:${request.outgoing.socket?.localPort ?? 80}`).origin;
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses an unsafe method from a foreign page; an absent Origin is accepted (contract.md section 1). */
export function assertOrigin(
  rule: OriginRule,
  method: string,
  origin: string | undefined,
  host: string | undefined,
): void {
  if (safeMethods.has(method) || origin === undefined || rule(origin, host)) return;
  throw new ApiError(
    'origin_not_allowed',
    'This request comes from another origin. If this is your address, set BASE_URL to it.',
  );
}
