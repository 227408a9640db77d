import { randomUUIDv7 } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientAddress, type TrustedProxies } from '../platform/client-address.ts';
import type { RequestFacts, RequestHeaders } from './handler.ts';

/** The path and query of a request. */
export type Target = { path: string; query: string };

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;
// Parts that a browser resolves or removes before sending: dot segments, backslashes, fragments.
const unusual = /\/(?:\.|%2e)|[\\#]/i;
const hostPattern = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Undefined when the request has no usable address. Nothing is decoded in it: no other spelling of a path is that path.
 */
export function targetOf({ url = '', headers }: IncomingMessage): Target | undefined {
  if (/^https?:\/\//.test(url)) return parsed(url);
  if (!url.startsWith('/') || headers.host === undefined || !hostPattern.test(headers.host)) return undefined;
  if (unusual.test(url)) return parsed(`http://host${url}`);
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

function parsed(address: string): Target | undefined {
  const url = URL.parse(address);
  return url === null ? undefined : { path: url.pathname, query: url.search.slice(1) };
}

/** The caller's own x-request-id where it can be one, else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && requestIdPattern.test(given) ? given : randomUUIDv7();
}

/** Most requests need little of it, so that each is made when it is asked for. */
export class IncomingFacts implements RequestFacts {
  readonly id: string;
  readonly method: string;
  readonly outgoing: ServerResponse;
  readonly headers: RequestHeaders;
  readonly #incoming: IncomingMessage;
  readonly #queryText: string;
  readonly #trusted: TrustedProxies;
  #query: URLSearchParams | undefined;
  #address: string | undefined;
  #left: AbortController | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, target: Target, trusted: TrustedProxies) {
    this.id = requestIdOf(incoming);
    this.method = incoming.method ?? 'GET';
    this.outgoing = outgoing;
    this.headers = {
      get: (name) => headerOf(incoming, name) ?? null,
      has: (name) => headerOf(incoming, name) !== undefined,
    };
    this.#incoming = incoming;
    this.#queryText = target.query;
    this.#trusted = trusted;
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#queryText);
    return this.#query;
  }

  get address(): string {
    this.#address ??= clientAddress(
      this.#incoming.socket.remoteAddress ?? '',
      headerOf(this.#incoming, 'x-forwarded-for') ?? null,
      this.#trusted,
    );
    return this.#address;
  }

  /** From a trusted proxy only: anybody else could have traces recorded, or put into theirs. */
  get traceParent(): string | undefined {
    const given = headerOf(this.#incoming, 'traceparent');
    return given !== undefined && this.#trusted(this.#incoming.socket.remoteAddress ?? '') ? given : undefined;
  }

  get signal(): AbortSignal {
    this.#left ??= this.#watchClient();
    return this.#left.signal;
  }

  #watchClient(): AbortController {
    const left = new AbortController();
    const leave = (): void => {
      if (!this.outgoing.writableFinished) left.abort();
    };
    if (this.outgoing.destroyed) leave();
    else this.outgoing.once('close', leave);
    return left;
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
