import { randomUUIDv7 } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type EndpointSpec, maxBodyBytes } from '@homeport/contracts/endpoint';
import { ApiError } from '@homeport/contracts/errors';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { clientAddress, type TrustedProxies } from '../client-address.ts';
import { systemClock } from '../clock.ts';
import type { Metrics } from '../metrics.ts';
import { bodyPace } from './body-bytes.ts';
import type { BodyRoom } from './body-room.ts';
import { errorResponse, toApiError } from './error-response.ts';
import { type Form, openForm } from './form-body.ts';
import { assertPermission, type Identify, type IdentifyWorkspace, identifyCaller, type Permissions } from './guard.ts';
import { type Actor, Reply, type RequestFacts, streamed, type Upload } from './handler.ts';
import { discardRest } from './incoming-body.ts';
import { assertOrigin, type OriginRule } from './origin.ts';
import { type BodyReading, readJsonBody, readSentBytes } from './request-body.ts';
import { openUpload } from './upload-body.ts';
import { headerObject, pathObject, queryObject, validate } from './validate.ts';

export type AppEnvironment = { Bindings: HttpBindings };

/** One endpoint with the handler that answers it, its types erased. */
export type MountedEndpoint = { spec: EndpointSpec; handle: (input: ErasedInput) => unknown };
type ErasedInput = {
  actor: Actor | undefined;
  params: unknown;
  query: unknown;
  headers: unknown;
  body: unknown;
  form: Form<unknown> | undefined;
  upload: Upload | undefined;
  request: RequestFacts;
};

export type RouterOptions = {
  /** Bytes of the largest file, in a form or as a body. */
  maxUploadBytes: number;
  /** Memory for all other bodies. */
  bodies: BodyRoom;
  /** Throws `storage_full` where there is no room for what a request would write. */
  assertRoom(use: 'files' | 'messages'): Promise<void>;
  identify: Identify;
  identifyWorkspace: IdentifyWorkspace;
  permissions: Permissions;
  origin: OriginRule;
  trusted: TrustedProxies;
  log: Logger;
  metrics: Pick<Metrics, 'request'>;
};

/** Nobody sees it but the log and the metrics. */
const clientClosedRequest = 499;
const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** Mounts every endpoint, 405 for its path under other methods, and 404 for the rest of /api. */
export function mountEndpoints(
  app: Hono<AppEnvironment>,
  endpoints: readonly MountedEndpoint[],
  options: RouterOptions,
): void {
  const methodsByPath = new Map<string, string[]>();
  for (const { spec, handle } of endpoints) {
    app.on(spec.method, spec.path, (context) => answer(context, spec, handle, options));
    methodsByPath.set(spec.path, [...(methodsByPath.get(spec.path) ?? []), spec.method]);
  }
  for (const [path, methods] of methodsByPath) {
    const allow = (methods.includes('GET') ? ['HEAD', ...methods] : methods).sort().join(', ');
    app.all(path, (context) => {
      const error = new ApiError('method_not_allowed', `This path accepts ${allow}`);
      return fail(context, options, error, { allow });
    });
  }
  const missing = (context: Context<AppEnvironment>) =>
    fail(context, options, new ApiError('not_found', 'There is nothing at this address'));
  app.all('/api', missing);
  app.all('/api/*', missing);
}

async function answer(
  context: Context<AppEnvironment>,
  spec: EndpointSpec,
  handle: MountedEndpoint['handle'],
  options: RouterOptions,
): Promise<Response> {
  const { incoming, outgoing } = context.env;
  const startedAt = systemClock.elapsed();
  const request = requestFacts(context, options.trusted);
  const headers = standardHeaders(request.id);
  let actor: Actor | undefined;
  let failure: ApiError | undefined;
  let clientLeft = false;
  let response: Response;
  try {
    const access = isPublicCall(context, spec) ? 'public' : spec.access;
    const caller = await identifyCaller(access, options, incoming.headers);
    actor = caller?.actor;
    // On Node's own answer, so that streams and refusals bring it as well; a handler that sets the cookie itself replaces it.
    if (caller?.setCookie !== undefined) outgoing.setHeader('set-cookie', caller.setCookie);
    assertOrigin(options.origin, spec.method, incoming.headers.origin, incoming.headers.host);
    assertPermission(access, actor, options.permissions);
    if (spec.upload === true || spec.form !== undefined) await options.assertRoom('files');
    if (spec.takesMessage === true) await options.assertRoom('messages');
    const input = await parseInput(context, spec, request, actor, options);
    try {
      response = render(await handle(input), spec, headers);
    } finally {
      input.release();
    }
  } catch (error) {
    failure = toApiError(error);
    clientLeft = incoming.socket.destroyed && isAbort(error, request.signal);
    if (spec.form === undefined) discardRest(incoming);
    response = outgoing.headersSent ? RESPONSE_ALREADY_SENT : errorResponse(failure, request.id, headers);
  }
  const answered = response === RESPONSE_ALREADY_SENT ? outgoing.statusCode : response.status;
  const status = clientLeft ? clientClosedRequest : answered;
  options.metrics.request(spec.method, spec.path, status, (systemClock.elapsed() - startedAt) / 1000);
  logRequest(options.log, { spec, request, actor, failure, status, startedAt, clientLeft });
  return response;
}

function isPublicCall(context: Context<AppEnvironment>, { publicWith }: EndpointSpec): boolean {
  return publicWith !== undefined && context.req.query(publicWith) !== undefined;
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

/** A parsed request, and what gives back the room of its body. */
type HeldInput = ErasedInput & { release(): void };

async function parseInput(
  context: Context<AppEnvironment>,
  spec: EndpointSpec,
  request: RequestFacts,
  actor: Actor | undefined,
  options: RouterOptions,
): Promise<HeldInput> {
  const { incoming } = context.env;
  const form = spec.form === undefined ? undefined : openForm(incoming, spec.form, options.maxUploadBytes);
  const upload = spec.upload === true ? openUpload(incoming, options.maxUploadBytes) : undefined;
  const sent = await readBody(incoming, spec, actor?.id ?? request.address, options.bodies);
  try {
    return {
      actor,
      params: spec.params === undefined ? undefined : validate(spec.params, pathObject(context.req.param())),
      query: spec.query === undefined ? undefined : validate(spec.query, queryObject(request.url.searchParams)),
      headers: spec.headers === undefined ? undefined : validate(spec.headers, headerObject(incoming.headers)),
      body: spec.body === undefined || spec.bytes !== undefined ? sent.value : validate(spec.body, sent.value),
      form,
      upload,
      request,
      release: sent.release,
    };
  } catch (error) {
    sent.release();
    throw error;
  }
}

function readBody(incoming: IncomingMessage, spec: EndpointSpec, sender: string, room: BodyRoom) {
  const reading: BodyReading = {
    maxBytes: maxBodyBytes(spec),
    pace: bodyPace,
    takeRoom: (bytes) => room.take(sender, bytes, incoming),
  };
  if (spec.bytes !== undefined) return readSentBytes(incoming, spec.bytes, reading);
  return spec.body === undefined ? { value: undefined, release: () => undefined } : readJsonBody(incoming, reading);
}

function requestFacts(context: Context<AppEnvironment>, trusted: TrustedProxies): RequestFacts {
  const { incoming, outgoing } = context.env;
  const forwarded = incoming.headers['x-forwarded-for'];
  return {
    id: requestIdOf(incoming),
    method: context.req.method,
    // The address that was routed: what the client sent may read differently, or not be readable at all.
    get url() {
      return new URL(context.req.url);
    },
    get headers() {
      return context.req.raw.headers;
    },
    get address() {
      const chain = Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? null);
      return clientAddress(incoming.socket.remoteAddress ?? '', chain, trusted);
    },
    get signal() {
      return context.req.raw.signal;
    },
    outgoing,
  };
}

/** The caller's own x-request-id where it can be one, else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && requestIdPattern.test(given) ? given : randomUUIDv7();
}

/** Headers of every answer under /api. */
export function standardHeaders(requestId: string): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  };
}

function render(output: unknown, spec: EndpointSpec, headers: Record<string, string>): Response {
  if (output === streamed) return RESPONSE_ALREADY_SENT;
  if (output instanceof Response) {
    for (const [name, value] of Object.entries(headers)) {
      if (!output.headers.has(name)) output.headers.set(name, value);
    }
    return output;
  }
  if (!(output instanceof Reply)) {
    return new Response(JSON.stringify(output), { status: spec.status ?? 200, headers });
  }
  const status = output.status ?? spec.status ?? 200;
  const body = output.body === undefined ? null : JSON.stringify(output.body);
  const response = new Response(body, { status, headers });
  for (const [name, value] of output.headers) response.headers.append(name, value);
  return response;
}

function fail(
  context: Context<AppEnvironment>,
  options: RouterOptions,
  error: ApiError,
  extra: Record<string, string> = {},
): Response {
  const request = requestFacts(context, options.trusted);
  options.metrics.request(request.method, undefined, error.status, 0);
  const { id: requestId, address, method } = request;
  options.log.info({ requestId, address, method, code: error.code }, 'request');
  return errorResponse(error, request.id, { ...standardHeaders(request.id), ...extra });
}

type RequestLogFacts = {
  spec: EndpointSpec;
  request: RequestFacts;
  actor: Actor | undefined;
  failure: ApiError | undefined;
  status: number;
  startedAt: number;
  /** What failed was only work for somebody who has gone. */
  clientLeft: boolean;
};

function logRequest(log: Logger, facts: RequestLogFacts): void {
  const line = {
    requestId: facts.request.id,
    address: facts.request.address,
    method: facts.spec.method,
    path: facts.spec.path,
    status: facts.status,
    milliseconds: Math.round(systemClock.elapsed() - facts.startedAt),
    userId: facts.actor?.id,
    code: facts.clientLeft ? 'client_left' : facts.failure?.code,
  };
  if (!facts.clientLeft && facts.failure?.code === 'internal_error')
    log.error({ ...line, cause: facts.failure.cause }, 'request failed');
  else if (facts.spec.probe === true && facts.status < 400) log.debug(line, 'request');
  else log.info(line, 'request');
}
