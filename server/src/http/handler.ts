import type { ServerResponse } from 'node:http';
import type { TokenScope } from '@homeport/contracts/accounts/token-scopes';
import type {
  BodyOf,
  EndpointSpec,
  FormOf,
  HeadersOf,
  ParamsOf,
  QueryOf,
  ResponseOf,
} from '@homeport/contracts/endpoint';
import type { User } from '@homeport/contracts/fields';
import type { Form } from './body/form-body.ts';
import type { HttpResponse } from './response.ts';

/**
 * The caller as found and checked by the guard. With an access token, `sessionId` is the token's id and `scopes` are
 * set. It is empty for a workspace, which acts for its user and has `tokenHash`, the hash of the token that it showed.
 */
export type Actor = User & {
  sessionId: string;
  scopes?: readonly TokenScope[];
  tokenHash?: string;
  maintenance?: string | null;
};

/** A handler's input, parsed and authorized. `actor` is set wherever a session is required. */
export type HandlerInput<E extends EndpointSpec> = {
  actor: E['access'] extends 'public' ? undefined : E extends { publicWith: string } ? Actor | undefined : Actor;
  params: ParamsOf<E>;
  query: QueryOf<E>;
  headers: HeadersOf<E>;
  body: BodyOf<E>;
  /** The body as one file, not read yet; undefined if the row has none. */
  upload: E extends { upload: true } ? Upload : undefined;
  /** The multipart body, whose file is still to be received; undefined if the row has none. */
  form: E extends { form: infer F } ? (F extends undefined ? undefined : Form<FormOf<E>>) : undefined;
  request: RequestFacts;
};

/** A file that is a request's body. `mediaType` is the sender's claim. */
export type Upload = { mediaType: string | undefined; bytes: AsyncIterable<Buffer> };

/** Request headers by their names in lower case; repeated ones are joined. */
export type RequestHeaders = { get(name: string): string | null; has(name: string): boolean };

export type RequestFacts = {
  id: string;
  method: string;
  query: URLSearchParams;
  headers: RequestHeaders;
  /** The client's address; x-forwarded-for counts only from trusted proxies. */
  address: string;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** Node's response, for streams that write to it directly. */
  outgoing: ServerResponse;
};

/** The actor and origin that the audit log records of a request (audit.ts). */
export function sourceOf({ actor, request }: { actor: Actor | undefined; request: RequestFacts }) {
  return { actorId: actor?.id ?? null, address: request.address, requestId: request.id };
}

/** An answer other than "the documented status with this JSON". */
export class Reply {
  readonly body: unknown;
  readonly status: number | undefined;
  readonly headers: [string, string][];

  constructor(body: unknown, options: { status?: number; headers?: [string, string][] } = {}) {
    this.body = body;
    this.status = options.status;
    this.headers = options.headers ?? [];
  }
}

/** A response other than JSON: text, bytes, or a stream of text. */
export class Content {
  readonly body: HttpResponse['body'];
  readonly headers: HttpResponse['headers'];

  constructor(body: HttpResponse['body'], headers: HttpResponse['headers']) {
    this.body = body;
    this.headers = headers;
  }
}

/**
 * A handler answers the documented JSON, a `Reply` that adds status or headers, `Content` for bytes, or `streamed` when
 * it has written to `request.outgoing` itself.
 */
export const streamed = Symbol('streamed');
type HandlerOutput<E extends EndpointSpec> = ResponseOf<E> | Reply | Content | typeof streamed;
export type Handler<D, E extends EndpointSpec> = (
  deps: D,
  input: HandlerInput<E>,
) => Promise<HandlerOutput<E>> | HandlerOutput<E>;
