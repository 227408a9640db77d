import { isIP } from 'node:net';
import { ApiError } from '@homeport/contracts/errors';

/** Which origins are this installation's. */
export type OriginRule = (origin: string, host: string | undefined) => boolean;

/**
 * With BASE_URL only that origin counts. Without it any loopback name or IP literal that equals the Host header does: a name
 * could be rebound by its owner to this machine, an address cannot.
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

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses an unsafe method from a foreign page; an absent Origin is accepted (contract section 1). */
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
