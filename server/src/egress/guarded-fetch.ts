import { unreachable } from './failures.ts';
import type { Guard } from './guard.ts';
import type { EgressInit, EgressResponse, HttpClient } from './http-client.ts';

const bodylessStatuses = new Set([101, 204, 205, 304]);

/** Time and size limits of a fetch; those of `EgressInit`. */
export type FetchLimits = Omit<EgressInit, 'method' | 'headers' | 'body' | 'signal' | 'maxRedirects'>;

const usualLimits: FetchLimits = { headersTimeoutMs: 60_000, idleTimeoutMs: 300_000 };

/**
 * A WHATWG fetch on the guarded client, for libraries that accept one. Returns the built-in Response class. Rejects
 * with ApiError where the standard says TypeError, so that a refusal keeps its code inside the library.
 */
export function createGuardedFetch(
  guard: Guard,
  client: HttpClient,
  limits: FetchLimits = usualLimits,
): typeof globalThis.fetch {
  return async (input, init) => {
    guard.check(input instanceof Request ? input.url : String(input));
    const request = new Request(input, { duplex: 'half', ...init });
    const body = request.body === null ? undefined : await request.bytes();
    const response = await client.request(request.url, {
      method: request.method,
      headers: Object.fromEntries(request.headers),
      signal: request.signal,
      ...(body === undefined ? {} : { body }),
      maxRedirects: request.redirect === 'follow' ? 5 : 0,
      ...limits,
    });
    if (request.redirect === 'error' && response.status >= 300 && response.status < 400 && response.headers.location) {
      response.body.destroy();
      throw unreachable('redirect', 'response');
    }
    return toResponse(response, request.method);
  };
}

function toResponse(answer: EgressResponse, method: string): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (name !== 'set-cookie') headers.append(name, value);
  }
  for (const cookie of answer.setCookies) headers.append('set-cookie', cookie);
  const isBodyless = method === 'HEAD' || bodylessStatuses.has(answer.status);
  if (isBodyless) answer.body.destroy();
  const response = new Response(isBodyless ? null : toStream(answer), {
    status: answer.status,
    statusText: answer.statusText,
    headers,
  });
  Object.defineProperties(response, { url: { value: answer.url }, redirected: { value: answer.redirected } });
  return response;
}

function toStream(answer: EgressResponse): ReadableStream<Uint8Array> {
  const chunks = answer.body[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => answer.body.destroy(),
    },
    { highWaterMark: 0 },
  );
}
