import type { ChatBody } from '@homeport/contracts/chat/chat';
import type { ChatDetail, ChatList } from '@homeport/contracts/chat/conversations';
import type { BodyInputOf, EndpointSpec, QueryInputOf, ResponseOf } from '@homeport/contracts/endpoint';
import type { EndpointAt, Route } from '@homeport/contracts/endpoints';
import type { ProvisionReport } from '@homeport/contracts/provision/provision';
import type { WorkspaceStatus } from '@homeport/contracts/workspace/workspace';
import { ApiFailure, readFailure } from './api-failure.ts';
import { setProxySession } from './proxy-session.ts';
import { readableDetail } from './readable-detail.ts';

/**
 * The only caller of the server. Routes and their types come from the endpoint table; no schema reaches the browser.
 */

const requestTimeout = 30_000;

type Named<K extends string, T> = [T] extends [undefined]
  ? { [P in K]?: undefined }
  : undefined extends T
    ? { [P in K]?: T }
    : { [P in K]: T };
type PathNames<P> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathNames<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;
type ParamsFor<E extends EndpointSpec> = [PathNames<E['path']>] extends [never]
  ? { params?: undefined }
  : { params: Record<PathNames<E['path']>, string> };
type QueryFor<E extends EndpointSpec> =
  QueryInputOf<E> extends undefined
    ? { query?: undefined }
    : Partial<Record<string, never>> extends QueryInputOf<E>
      ? { query?: QueryInputOf<E> }
      : { query: QueryInputOf<E> };

/** Options of a call to the route: `params`, `query` and `body` exactly as in the endpoint table. */
export type CallOptions<R extends Route> = ParamsFor<EndpointAt<R>> &
  QueryFor<EndpointAt<R>> &
  Named<'body', BodyInputOf<EndpointAt<R>>> & { signal?: AbortSignal };

let unauthorizedListener: () => void = () => {};

/** `listener` runs whenever the server answers 401 `unauthorized`: the session has ended. */
export function onUnauthorized(listener: () => void): void {
  unauthorizedListener = listener;
}

let passwordListener: () => void = () => {};

/**
 * `listener` runs whenever the server answers 403 `password_change_required`: nothing else works until it is changed.
 */
export function onPasswordChangeRequired(listener: () => void): void {
  passwordListener = listener;
}

/**
 * Calls an endpoint and returns its JSON response. Throws `ApiFailure`; aborting `signal` throws the signal's reason.
 */
export async function call<R extends Route>(route: R, options: CallOptions<R>): Promise<ResponseOf<EndpointAt<R>>> {
  const { params, query, body, signal }: LooseOptions = options;
  return readJson(
    await send(route, { params, query, signal, body: body === undefined ? undefined : JSON.stringify(body) }),
  );
}

/** One conversation with its newest messages, or with those before the message `before`. */
export async function getConversation(
  id: string,
  options: { before?: string; signal?: AbortSignal } = {},
): Promise<ChatDetail> {
  const { before, signal } = options;
  return narrowDetail(await call('GET /api/chats', { query: { id, before }, signal }));
}

/** A page of the conversation list. */
export async function listConversations(
  query: { archived?: '1'; projectId?: string; q?: string; cursor?: string; limit?: string },
  signal?: AbortSignal,
): Promise<ChatList> {
  return narrowList(await call('GET /api/chats', { query, signal }));
}

/** Starts, regenerates or resumes a response without following it. */
export async function startResponse(
  body: Omit<ChatBody, 'detach'>,
  signal?: AbortSignal,
): Promise<{ admitted: true; assistantId: string }> {
  return readJson(await send('POST /api/chat', { body: JSON.stringify({ ...body, detach: true }), signal }));
}

/**
 * Sends a submission whose body is already text, so that a retry is identical byte for byte (control-plane-api.md
 * "Saved-message acknowledgement" 1).
 */
export async function sendSubmission(
  route: 'POST /api/chats' | 'POST /api/chat/start' | 'POST /api/chat/turn-inputs',
  body: string,
): Promise<unknown> {
  return readJson(await send(route, { body }));
}

/** Opens the stream of the running response after sequence number `after`; null if none is running. */
export async function openStream(
  chatId: string,
  after: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | null> {
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  if (after !== undefined) headers['last-event-id'] = after;
  const response = await send('GET /api/chat/:chatId/stream', { params: { chatId }, headers, signal, timeout: null });
  return response.status === 204 ? null : response.body;
}

/** Opens the stream that reports which conversations change. */
export async function openActivity(signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
  const headers = { accept: 'text/event-stream' };
  return (await send('GET /api/chats/activity', { headers, signal, timeout: null })).body;
}

/** The text of a file. */
export async function readText(
  route:
    | 'GET /api/artifacts/preview'
    | 'GET /api/artifacts/download'
    | 'GET /api/chats/changes/file'
    | 'GET /api/workspace/download',
  query: Record<string, string>,
  signal: AbortSignal,
): Promise<string> {
  return bodyText(await send(route, { query, signal }));
}

/** Milliseconds for a manifest's response: a large one takes the server a while. */
const manifestTimeout = 300_000;

/** Tries or applies an installation manifest, sent unchanged (contract.md section 9). */
export async function sendManifest(
  manifest: string | Blob,
  type: 'application/json' | 'application/yaml',
  dryRun: boolean,
  signal?: AbortSignal,
): Promise<ProvisionReport> {
  const query = { changes: '1', ...(dryRun ? { dryRun: '1' } : {}) };
  const headers = { 'content-type': type };
  return readJson(
    await send('POST /api/admin/provision', { query, headers, body: manifest, signal, timeout: manifestTimeout }),
  );
}

/** Milliseconds for starting a workspace: the server itself gives up after 90 seconds. */
const workspaceStartTimeout = 100_000;

/** Starts the user's workspace and waits until it is ready. */
export async function startWorkspace(): Promise<WorkspaceStatus> {
  return readJson(await send('POST /api/workspace/status', { timeout: workspaceStartTimeout }));
}

/** A connection to a terminal of the user's workspace. Browsers don't expose why a connection failed. */
export function openTerminal(
  query: { id: string; columns: number; rows: number },
  events: { onOpen: () => void; onMessage: (data: unknown) => void; onClose: (code: number) => void },
): WebSocket {
  const { path } = addressOf('GET /api/workspace/terminal', undefined, query);
  const address = new URL(path, window.location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  const socket = new WebSocket(address);
  socket.binaryType = 'arraybuffer';
  socket.onopen = events.onOpen;
  socket.onmessage = ({ data }) => events.onMessage(data);
  socket.onclose = ({ code }) => events.onClose(code);
  return socket;
}

/** The address of an endpoint that answers with a file, for a link's href. */
export function fileAddress(route: Route, query: Record<string, string>): string {
  return addressOf(route, undefined, query).path;
}

type LooseOptions = { params?: Record<string, string>; query?: unknown; body?: unknown; signal?: AbortSignal };

type SendOptions = {
  params?: Record<string, string>;
  query?: unknown;
  body?: string | Blob;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Milliseconds; null: only `signal` ends it. */
  timeout?: number | null;
};

async function send(route: Route, options: SendOptions): Promise<Response> {
  const { method, path } = addressOf(route, options.params, options.query);
  const timeout = options.timeout === null ? undefined : AbortSignal.timeout(options.timeout ?? requestTimeout);
  const signals = [options.signal, timeout].filter((signal) => signal !== undefined);
  const headers = { ...(options.body === undefined ? {} : { 'content-type': 'application/json' }), ...options.headers };
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: options.body,
      signal: AbortSignal.any(signals),
      credentials: 'same-origin',
      redirect: 'manual',
    });
  } catch (cause) {
    options.signal?.throwIfAborted();
    throw new ApiFailure('network', '', { cause });
  }
  // No endpoint redirects: a sign-in service in front of the server does, once its session has ended.
  if (response.type === 'opaqueredirect') throw proxySessionEnded(response.status);
  if (response.ok) {
    setProxySession(false);
    return response;
  }
  const bytes = typeof options.body === 'string' ? new Blob([options.body]).size : options.body?.size;
  const failure = readFailure(response.status, response.headers, await bodyText(response), bytes);
  setProxySession(failure.code === 'proxy_sign_in');
  if (failure.code === 'unauthorized') unauthorizedListener();
  if (failure.code === 'password_change_required') passwordListener();
  throw failure;
}

function addressOf(route: string, params: Record<string, string> | undefined, query: unknown) {
  const space = route.indexOf(' ');
  const path = route.slice(space + 1).replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ''));
  const search = new URLSearchParams();
  const entries = typeof query === 'object' && query !== null ? Object.entries(query) : [];
  for (const [key, value] of entries) if (value !== undefined && value !== '') search.set(key, String(value));
  return { method: route.slice(0, space), path: search.size > 0 ? `${path}?${search}` : path };
}

function proxySessionEnded(status: number): ApiFailure {
  setProxySession(true);
  return new ApiFailure('proxy_sign_in', '', { status });
}

async function bodyText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    throw new ApiFailure('network', '', { cause });
  }
}

/** The endpoint table gives the response's type; the server's own tests validate it. */
async function readJson<T>(response: Response): Promise<T> {
  const text = await bodyText(response);
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    if (/^text\/html\b/.test(response.headers.get('content-type') ?? '')) throw proxySessionEnded(response.status);
    throw new ApiFailure('unreadable', '', { status: response.status, cause });
  }
}

function narrowDetail(answer: ChatDetail | ChatList): ChatDetail {
  const detail = readableDetail(answer);
  if (detail) return detail;
  throw new ApiFailure('unreadable', '');
}

function narrowList(answer: ChatDetail | ChatList): ChatList {
  if ('chats' in answer) return answer;
  throw new ApiFailure('unreadable', '');
}
