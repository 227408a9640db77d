import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import { limits } from './limits.ts';

/**
 * Who may call (control-plane-api.md "Authentication" 3 and 4). `provider-editor` and `mcp-editor` are a session with
 * the extra permission; `admin-for-user` is an administrator acting on the user named by `?userId=`;
 * `session-any-password` is a session that also works while the password must be changed (contract.md section 3).
 */
export type Access =
  | 'public'
  | 'session'
  | 'session-any-password'
  | 'provider-editor'
  | 'mcp-editor'
  | 'admin'
  | 'admin-for-user'
  | 'workspace';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One row of the endpoint table. Path parameters are written `:name`. */
export type EndpointSpec = {
  method: Method;
  path: `/${string}`;
  access: Access;
  /** With this query parameter anybody may call: it proves what a session would. */
  publicWith?: string;
  /** The one edition that has this endpoint; in the other one there is nothing at its address. */
  edition?: 'community';
  summary: string;
  /** Asked every few seconds by machines: a success is a log line for debugging only. */
  probe?: true;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Request headers that mean something to this endpoint alone, by their names in lower case. */
  headers?: z.ZodObject;
  body?: z.ZodType;
  /** The text fields of a multipart/form-data body that brings one file in its part `file`. */
  form?: z.ZodType;
  /**
   * Media types of a body that the handler gets as it was sent, `SentBytes`; `body` then only describes it.
   */
  bytes?: readonly string[];
  /** The body is one file of any type, which the handler receives as it arrives. */
  upload?: true;
  /** An answer is made of it, which takes room: refused with `storage_full` while the disk is full, as uploads are earlier. */
  takesMessage?: true;
  /** Bytes of the largest JSON body, where `maxBodyBytes` would say something else. */
  bodyBytes?: number;
  /** What a success carries; `stream` is the response stream of `frames.ts`, `events` server-sent events without an end, `file` bytes. */
  response: z.ZodType | 'stream' | 'events' | 'file';
  /** Media types of a file, where not any. */
  fileTypes?: readonly string[];
  /** The file is also sent in part, or not again to whoever has it (RFC 9110, 13 and 14): 206, 304, 416. */
  ranges?: true;
  /** Success status: 200 unless said otherwise. */
  status?: 200 | 201 | 202 | 204;
  /** Answers of other statuses that are no errors in the usual shape; `empty` has no body. */
  others?: Readonly<Record<number, z.ZodType | 'empty'>>;
  /** Error codes beyond those that the access word, the body and the query already imply. */
  errors?: readonly ErrorCode[];
};

/** Types a row without widening it; a row without an access word does not compile. */
export const endpoint = <const E extends EndpointSpec>(spec: E): E => spec;

/** Bytes of the largest JSON body of an endpoint; beyond them it answers 413 `payload_too_large`. */
export function maxBodyBytes({ bodyBytes, access }: Pick<EndpointSpec, 'bodyBytes' | 'access'>): number {
  return bodyBytes ?? (access === 'public' ? limits.publicBodyBytes : limits.defaultBodyBytes);
}

/** A body as it was sent. `type` is its media type in lower case, without parameters. */
export type SentBytes = { type: string; bytes: Uint8Array<ArrayBuffer> };

type Infer<S> = S extends z.ZodType ? z.output<S> : undefined;
type InferInput<S> = S extends z.ZodType ? z.input<S> : undefined;

/** Parsed path parameters, query, headers, body as the handler sees them. */
export type ParamsOf<E extends EndpointSpec> = Infer<E['params']>;
export type QueryOf<E extends EndpointSpec> = Infer<E['query']>;
export type HeadersOf<E extends EndpointSpec> = Infer<E['headers']>;
export type BodyOf<E extends EndpointSpec> = E['bytes'] extends readonly string[] ? SentBytes : Infer<E['body']>;
/** The text fields of a form. */
export type FormOf<E extends EndpointSpec> = Infer<E['form']>;
/** What a caller sends. */
export type QueryInputOf<E extends EndpointSpec> = InferInput<E['query']>;
export type BodyInputOf<E extends EndpointSpec> = InferInput<E['body']>;
/** What a success answers, as JSON. */
export type ResponseOf<E extends EndpointSpec> = Infer<E['response']>;
