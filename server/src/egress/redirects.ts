import { unreachable } from './failures.ts';
import type { Guard } from './guard.ts';

/** One request of a chain; header names are lower-case. */
export type Hop = { url: URL; method: string; headers: Record<string, string>; body: Uint8Array | string | undefined };

const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const harmlessHeaders = new Set(['accept', 'content-type', 'user-agent']);

/** True if the response asks for another request. */
export function isRedirect(status: number, location: string | undefined): location is string {
  return location !== undefined && redirectStatuses.has(status);
}

/**
 * The request that follows a redirect, checked like the first one. Only harmless headers go to another origin, and
 * never a body; a redirect that would send one there fails. Plain HTTP after HTTPS is another origin and needs
 * ALLOW_INSECURE_HTTP.
 */
export function nextHop(guard: Guard, hop: Hop, status: number, location: string): Hop {
  const url = guard.check(location, hop.url);
  const keepsMethod = !becomesGet(status, hop.method);
  const isSameOrigin = url.origin === hop.url.origin;
  if (keepsMethod && hop.body !== undefined && !isSameOrigin) throw unreachable('redirect', 'response');
  const method = keepsMethod ? hop.method : 'GET';
  const body = keepsMethod ? hop.body : undefined;
  const headers = Object.entries(hop.headers).filter(([name]) => {
    if (body === undefined && name === 'content-type') return false;
    return isSameOrigin || harmlessHeaders.has(name);
  });
  return { url, method, headers: Object.fromEntries(headers), body };
}

// The Fetch standard's table.
function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}
