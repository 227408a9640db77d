import type { z } from 'zod';
import type { TokenScope } from './accounts/token-scopes.ts';
import type { ErrorCode } from './errors.ts';
import { limits } from './limits.ts';

/**
 * Required credentials (control-plane-api.md "Authentication" 3 and 4). `provider-editor` and `mcp-editor` are a session
 * with the extra permission; `admin-for-user` is an administrator acting on the user named by `?userId=`;
 * `session-any-password` is a session that also works while the password must be changed (contract.md section 3);
 * `token` is an access token and nothing else. An access token with the endpoint's `scope` stands for a session.
 */
export type Access =
  | 'public'
  | 'session'
  | 'session-any-password'
  | 'provider-editor'
  | 'mcp-editor'
  | 'admin'
  | 'admin-for-user'
  | 'token'
  | 'workspace';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One row of the endpoint table. Path parameters are written `:name`. */
export type EndpointSpec = {
  method: Method;
  path: `/${string}`;
  access: Access;
  /** The scope with which an access token may call it; without one, it is closed to tokens. */
  scope?: TokenScope;
  /** Members of the body that a token may not give: they change sign-in, or let tools run without a question. */
  closedToTokens?: readonly string[];
  /** For `workspace`: the token that programs in it have for models is enough. */
  modelToken?: true;
  /** With this query parameter no session is needed: the parameter proves as much. */
  publicWith?: string;
  /** The only edition that has this endpoint; the other one has nothing at its address. */
  edition?: 'community';
  summary: string;
  /** Machines call it every few seconds, so a success is logged at debug level only. */
  probe?: true;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Request headers with a meaning for this endpoint only, in lower case. */
  headers?: z.ZodObject;
  body?: z.ZodType;
  /** The text fields of a multipart/form-data body whose part `file` is one file. */
  form?: z.ZodType;
  /** Media types of a body that the handler gets unparsed as `SentBytes`; `body` then only describes it. */
  bytes?: readonly string[];
  /** The body is one file of any type, streamed to the handler. */
  upload?: true;
  /** The largest such file in bytes, if not ARTIFACT_MAX_UPLOAD_BYTES. */
  uploadBytes?: number;
  /**
   * It leads to an answer, which needs space: refused with `storage_full` when the disk is full, later than uploads
   * are.
   */
  takesMessage?: true;
  /** The shape of errors, for clients that know a provider's API and not ours. */
  errorsAs?: 'openai' | 'anthropic';
  /** The largest JSON body in bytes; `maxBodyBytes` by default. */
  bodyBytes?: number;
  /**
   * Body of a successful response; `stream` is the response stream of `frames.ts`, `events` endless server-sent events,
   * `file` bytes.
   */
  response: z.ZodType | 'stream' | 'events' | 'file';
  /** Media types of the file; any if absent. Beside a schema: the files that the query can ask for instead of JSON. */
  fileTypes?: readonly string[];
  /** The file supports ranges and conditional requests (RFC 9110, 13 and 14): 206, 304, 416. */
  ranges?: true;
  /** Success status; 200 by default. */
  status?: 200 | 201 | 202 | 204;
  /** Other statuses that are not errors in the usual shape; `empty` has no body. */
  others?: Readonly<Record<number, z.ZodType | 'empty'>>;
  /** Error codes besides those implied by `access`, the body and the query. */
  errors?: readonly ErrorCode[];
};

/** Types a row without widening it; a row without an access word does not compile. */
export const endpoint = <const E extends EndpointSpec>(spec: E): E => spec;

/** The largest JSON body that an endpoint accepts; more is 413 `payload_too_large`. */
export function maxBodyBytes({ bodyBytes, access }: Pick<EndpointSpec, 'bodyBytes' | 'access'>): number {
  return bodyBytes ?? (access === 'public' ? limits.publicBodyBytes : limits.defaultBodyBytes);
}

/** A body as sent. `type` is its media type in lower case, without parameters. */
export type SentBytes = { type: string; bytes: Uint8Array<ArrayBuffer> };

type Infer<S> = S extends z.ZodType ? z.output<S> : undefined;
type InferInput<S> = S extends z.ZodType ? z.input<S> : undefined;

/** Parsed path parameters, query, headers and body as the handler gets them. */
export type ParamsOf<E extends EndpointSpec> = Infer<E['params']>;
export type QueryOf<E extends EndpointSpec> = Infer<E['query']>;
export type HeadersOf<E extends EndpointSpec> = Infer<E['headers']>;
export type BodyOf<E extends EndpointSpec> = E['bytes'] extends readonly string[] ? SentBytes : Infer<E['body']>;
/** The text fields of a form. */
export type FormOf<E extends EndpointSpec> = Infer<E['form']>;
/** Query parameters as a client sends them. */
export type QueryInputOf<E extends EndpointSpec> = InferInput<E['query']>;
export type BodyInputOf<E extends EndpointSpec> = InferInput<E['body']>;
/** A success as JSON. */
export type ResponseOf<E extends EndpointSpec> = Infer<E['response']>;
