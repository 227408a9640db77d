import { setImmediate } from 'node:timers/promises';
import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../../platform/clock.ts';
import { foreignJsonBounds, JsonScan } from '../../platform/json/json-scan.ts';
import { mcpBounds } from '../bounds.ts';
import type { Challenge } from '../oauth/protocol.ts';
import { noteRefused, noteStream } from './message-rules.ts';

/** Events of a connection's own requests. */
export type TransportEvents = {
  /** A request failed before its response. */
  onFailure(error: unknown): void;
  /** The server broke a bound: nothing more is expected from it. */
  onBroken(error: BrokenBound): void;
  /** A stream of notifications has opened (+1) or ended (-1). */
  onStream(change: 1 | -1): void;
};

/** The server broke a bound; `message` says which, in our words. */
export class BrokenBound extends Error {}

/** The server demands other credentials. The library would report it differently in each place where it can happen. */
export class RefusedAccess extends Error {
  readonly status: number;
  /** The OAuth challenge, if the server sent one. */
  readonly challenge: Challenge | undefined;

  constructor(status: number, challenge: Challenge | undefined) {
    super('refused');
    this.status = status;
    this.challenge = challenge;
  }
}

/** A redirect that is not followed: to another origin, or one that turns a POST into a GET. */
export class RefusedRedirect extends Error {
  constructor(target: URL) {
    const { origin, pathname } = target;
    super(`it redirects to ${`${origin}${pathname}`.slice(0, 300)}. Enter that address if it is the server you mean`);
  }
}

/** The tokens of a signed-in server; undefined: there are none any more. `refused` was sent and is no longer taken. */
export type ReadToken = (refused?: string) => Promise<string | undefined>;

/**
 * The fetch of one MCP connection: only to the server's own origin, whatever it names; redirects are never followed
 * here (the library follows those within the origin); every response is bounded in size, message size and rate.
 */
export function createMcpFetch(
  base: typeof fetch,
  origin: string,
  events: TransportEvents,
  readToken?: ReadToken,
): typeof fetch {
  let described: Promise<Challenge | undefined> | undefined;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    if (url.origin !== origin) {
      const refusal = new ApiError('mcp_unreachable', 'The MCP server pointed to an address at another origin.');
      events.onFailure(refusal);
      throw refusal;
    }
    const response = await sendSignedIn(base, input, { ...init, redirect: 'manual' }, readToken).catch((error) => {
      events.onFailure(error);
      throw error;
    });
    if (isEventStream(response)) noteStream();
    const { status } = response;
    if (status === 401 || status === 403) {
      // With a key entered by the user, OAuth sign-in is not the problem.
      const hasOwnKey = new Headers(init?.headers).has('authorization');
      let challenge = hasOwnKey ? undefined : await readChallenge(response);
      if (challenge === undefined && !hasOwnKey && status === 401) {
        // One connection asks once, however often the server refuses.
        described ??= findDescribedSignIn(base, url);
        challenge = await described;
      }
      const refused = new RefusedAccess(status, challenge);
      noteRefused(refused);
      events.onFailure(refused);
    }
    const redirect = refusedRedirect(url, init?.method ?? 'GET', response);
    if (redirect !== undefined) {
      noteRefused(redirect);
      events.onFailure(redirect);
    }
    return bounded(response, events, isNotificationStream(init, response));
  };
}

/** The redirect in a response, unless the library follows it. */
function refusedRedirect(url: URL, method: string, { status, headers }: Response): RefusedRedirect | undefined {
  const location = headers.get('location');
  if (![301, 302, 303, 307, 308].includes(status) || location === null || !URL.canParse(location, url.href)) {
    return undefined;
  }
  const target = new URL(location, url);
  const isFollowed = method === 'GET' || status === 307 || status === 308;
  const isOwn = target.origin === url.origin && target.username === '' && target.password === '';
  return isFollowed && isOwn ? undefined : new RefusedRedirect(target);
}

/** Sends the token along, if there is one; one that is no longer taken is renewed, and the request sent once more. */
async function sendSignedIn(
  base: typeof fetch,
  input: Parameters<typeof fetch>[0],
  init: RequestInit,
  readToken: ReadToken | undefined,
): Promise<Response> {
  const token = await readToken?.();
  if (readToken === undefined || token === undefined) return base(input, init);
  const response = await base(input, withToken(init, token));
  if (response.status !== 401) return response;
  const renewed = await readToken(token);
  if (renewed === undefined || renewed === token) return response;
  await response.body?.cancel();
  return base(input, withToken(init, renewed));
}

function withToken(init: RequestInit, token: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...init, headers };
}

const scopeMax = 2000;

/** Reads the challenge of a refusal: any Bearer challenge, also one for more scopes (RFC 6750, RFC 9728). */
async function readChallenge(response: Response): Promise<Challenge | undefined> {
  if (!/^\s*bearer\b/i.test(response.headers.get('www-authenticate') ?? '')) return undefined;
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  if (response.status === 403 && error !== 'insufficient_scope') return undefined;
  return {
    ...(resourceMetadataUrl === undefined ? {} : { metadataUrl: resourceMetadataUrl.href }),
    ...(scope === undefined || scope.length > scopeMax ? {} : { scope }),
  };
}

/** Paths of the description of a sign-in, or of an authorization server on the same origin (RFC 9728, RFC 8414). */
const wellKnownPaths = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server'];
/** For all of them together. */
const wellKnownMs = 5_000;

/** The challenge of a server that refuses access without a challenge but describes a sign-in at a well-known address. */
async function findDescribedSignIn(base: typeof fetch, { origin, pathname }: URL): Promise<Challenge | undefined> {
  const signal = AbortSignal.timeout(wellKnownMs);
  const places = wellKnownPaths.flatMap((place) => (pathname === '/' ? [place] : [place + pathname, place]));
  for (const place of places) {
    const headers = { accept: 'application/json' };
    const response = await base(origin + place, { signal, headers, redirect: 'manual' }).catch(() => undefined);
    if (response === undefined) return undefined;
    await response.body?.cancel();
    if (response.ok && /^application\/(?:[\w.-]+\+)?json\b/i.test(response.headers.get('content-type') ?? ''))
      return {};
  }
  return undefined;
}

function isNotificationStream(init: RequestInit | undefined, response: Response): boolean {
  return (init?.method ?? 'GET') === 'GET' && response.ok && isEventStream(response);
}

function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
}

function bounded(response: Response, events: TransportEvents, isNotifications: boolean): Response {
  const { body, status, statusText, url } = response;
  if (body === null) return response;
  const headers = new Headers(response.headers);
  // Some servers send their JSON without a type, or as text.
  if (
    response.ok &&
    /^(?:text\/(?:plain|json|javascript)\b|application\/(?:json-rpc|jsonrpc|x-json|octet-stream|[\w.-]+\+json)\b|$)/i.test(
      headers.get('content-type') ?? '',
    )
  ) {
    headers.set('content-type', 'application/json');
  }
  const answer = new Response(boundedBody(body, isEventStream(response), events, isNotifications), {
    status,
    statusText,
    headers,
  });
  Object.defineProperty(answer, 'url', { value: url });
  return answer;
}

const lineFeed = 10;
const carriageReturn = 13;

/** Ends every line with LF only: at each line, the library's reader searches the whole rest of a chunk for a CR. */
class LineFeeds {
  #endedWithCr = false;

  read(chunk: Uint8Array): Uint8Array {
    if (!this.#endedWithCr && !chunk.includes(carriageReturn)) return chunk;
    const plain = new Uint8Array(chunk.length);
    let length = 0;
    for (const byte of chunk) {
      const isSecond = byte === lineFeed && this.#endedWithCr;
      this.#endedWithCr = byte === carriageReturn;
      if (!isSecond) plain[length++] = this.#endedWithCr ? lineFeed : byte;
    }
    return plain.subarray(0, length);
  }
}

const blankLine = Uint8Array.of(lineFeed, lineFeed);

/** How long received bytes are parsed before yielding to the event loop. */
const busyMs = 20;

/** Counts messages, and the bytes and values of each; too much of any ends the body with an error. */
function boundedBody(
  body: ReadableStream<Uint8Array>,
  isEvents: boolean,
  events: TransportEvents,
  isNotifications: boolean,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let total = 0;
  let message = 0;
  let lineLength = 0;
  let count = 0;
  let windowStart = systemClock.elapsed();
  let pausedAt = windowStart;
  let isOpen = isNotifications;
  if (isNotifications) events.onStream(1);
  const end = (): void => {
    if (isOpen) events.onStream(-1);
    isOpen = false;
  };
  const lines = new LineFeeds();
  let scan = new JsonScan(foreignJsonBounds);
  const look = (bytes: Uint8Array): void => {
    const excess = scan.push(bytes);
    if (excess !== undefined) throw new BrokenBound(`one of its messages was ${excess.reason}`);
  };
  const check = (chunk: Uint8Array): void => {
    total += chunk.length;
    if (total > mcpBounds.streamBytes) throw new BrokenBound('it sent too much');
    if (!isEvents) {
      if (total > mcpBounds.messageBytes) throw new BrokenBound('its answer was too large');
      look(chunk);
      return;
    }
    for (let from = 0; from < chunk.length; ) {
      const feed = chunk.indexOf(lineFeed, from);
      const end = feed < 0 ? chunk.length : feed;
      message += end - from + 1;
      lineLength += end - from;
      look(chunk.subarray(from, end));
      from = end + 1;
      if (feed < 0) break;
      if (lineLength === 0) {
        message = 0;
        count += 1;
        scan = new JsonScan(foreignJsonBounds);
      } else scan.endLine();
      lineLength = 0;
    }
    if (message > mcpBounds.messageBytes) throw new BrokenBound('one of its messages was too large');
    const now = systemClock.elapsed();
    if (now - windowStart > 10_000) {
      windowStart = now;
      count = 0;
    }
    if (count > mcpBounds.eventsPer10s) throw new BrokenBound('it sent too many messages');
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await reader.read();
          if (systemClock.elapsed() - pausedAt > busyMs) {
            await setImmediate();
            pausedAt = systemClock.elapsed();
          }
          if (next.done) {
            end();
            // Some servers omit the blank line after their last event, which would be discarded with it.
            if (isEvents && message > 0) controller.enqueue(blankLine);
            controller.close();
            return;
          }
          const chunk = isEvents ? lines.read(next.value) : next.value;
          check(chunk);
          controller.enqueue(chunk);
        } catch (error) {
          end();
          if (error instanceof BrokenBound) events.onBroken(error);
          void reader.cancel(error).catch(() => undefined);
          throw error;
        }
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
