import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EndpointSpec, maxBodyBytes } from '@homeport/contracts/endpoint';
import { ApiError } from '@homeport/contracts/errors';
import type { Logger } from 'pino';
import type { TrustedProxies } from '../platform/client-address.ts';
import { systemClock } from '../platform/clock.ts';
import type { ErrorShape } from '../platform/front-errors.ts';
import { encodeJson, isLargeJson } from '../platform/json/json-pieces.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { SpanStart, Tracing } from '../tracing/tracing.ts';
import { bodyPace } from './body/body-bytes.ts';
import { type Form, openForm } from './body/form-body.ts';
import { discardRest } from './body/incoming-body.ts';
import { type BodyReading, readJsonBody, readSentBytes } from './body/request-body.ts';
import type { RequestBodyBudget } from './body/request-body-budget.ts';
import { openUpload } from './body/upload-body.ts';
import { headerObject, pathObject, queryObject, validate } from './body/validate.ts';
import { isTokenRequest } from './credentials.ts';
import { errorResponse, toApiError } from './error-response.ts';
import {
  assertMembers,
  assertOpen,
  assertPermission,
  type Finders,
  identifyCaller,
  type Permissions,
} from './guard.ts';
import { type Actor, Content, Reply, type RequestFacts, streamed, type Upload } from './handler.ts';
import { assertOrigin, type OriginRule } from './origin.ts';
import { PathTable } from './path-table.ts';
import { IncomingFacts, type Target } from './request-facts.ts';
import { type HttpResponse, send, standardHeaders } from './response.ts';

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

export type RouterOptions = Finders & {
  /** The largest file in bytes, in a form or as a body. */
  readUploadLimit(): Promise<number>;
  /** Memory for all other bodies. */
  bodies: RequestBodyBudget;
  /** Throws `storage_full` if there is no space for what a request would write. */
  assertRoom(use: 'files' | 'messages'): Promise<void>;
  permissions: Permissions;
  origin: OriginRule;
  trusted: TrustedProxies;
  log: Logger;
  metrics: Pick<Metrics, 'request'>;
  tracing: Tracing;
};

/** Only the log and the metrics see it. */
const clientClosedRequest = 499;

/** A request and the parameters of its path. */
type Exchange = { incoming: IncomingMessage; request: IncomingFacts; params: Record<string, string> };
/** The endpoints of one path by method. */
type Methods = { allow: string; byMethod: Map<string, MountedEndpoint> };

/** Answers what is asked of a path under /api; false for every other path. */
export type Router = (incoming: IncomingMessage, outgoing: ServerResponse, target: Target) => Promise<boolean>;

/** Routes every endpoint; answers 405 for other methods of its path and 404 for other paths below /api. */
export function createRouter(endpoints: readonly MountedEndpoint[], options: RouterOptions): Router {
  const paths = new PathTable(
    Array.from(
      Map.groupBy(endpoints, ({ spec }) => spec.path),
      toMethods,
    ),
  );
  return async (incoming, outgoing, target) => {
    const found = paths.find(target.path);
    if (found === undefined && !/^\/(?:api|v1)(?:\/|$)/.test(target.path)) return false;
    const request = new IncomingFacts(incoming, outgoing, target, options.trusted);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const mounted = found?.value.byMethod.get(method);
    if (found === undefined) {
      const error = new ApiError('not_found', 'There is nothing at this address');
      send(outgoing, refuse(request, options, error, { shape: shapeOf(target.path) }));
    } else if (mounted === undefined) {
      const error = new ApiError('method_not_allowed', `This path accepts ${found.value.allow}`);
      send(
        outgoing,
        refuse(request, options, error, { headers: { allow: found.value.allow }, shape: shapeOf(target.path) }),
      );
    } else {
      const exchange = { incoming, request, params: found.params };
      const run = () => answer(exchange, mounted, options);
      const answered = await (mounted.spec.probe === true
        ? run()
        : options.tracing.span(spanOf(exchange, mounted), run));
      if (answered !== streamed) send(outgoing, answered);
    }
    if (!incoming.complete) discardRest(incoming);
    return true;
  };
}

function toMethods([path, mounted]: [string, MountedEndpoint[]]): [string, Methods] {
  const byMethod = new Map(mounted.map((each) => [each.spec.method, each]));
  const methods = byMethod.has('GET') ? ['HEAD', ...byMethod.keys()] : [...byMethod.keys()];
  return [path, { byMethod, allow: methods.sort().join(', ') }];
}

async function answer(
  exchange: Exchange,
  { spec, handle }: MountedEndpoint,
  options: RouterOptions,
): Promise<HttpResponse | typeof streamed> {
  const { incoming, request } = exchange;
  const { outgoing } = request;
  const startedAt = systemClock.elapsed();
  const headers = standardHeaders(request.id);
  let actor: Actor | undefined;
  let failure: ApiError | undefined;
  let clientLeft = false;
  let answered: HttpResponse | typeof streamed;
  try {
    const access = isPublicCall(request, spec) ? 'public' : spec.access;
    const isByToken = isTokenRequest(incoming, spec.path);
    const from = { incoming, address: request.address, requestId: request.id };
    const caller = await identifyCaller(access, options, from, spec);
    actor = caller?.actor;
    // On Node's own response, so that streams and refusals carry it too; a handler that sets the cookie itself replaces
    // it.
    if (caller?.setCookie !== undefined) outgoing.setHeader('set-cookie', caller.setCookie);
    // No browser adds a token by itself, so any page that has one may use it.
    if (actor?.scopes === undefined)
      assertOrigin(options.origin, spec.method, incoming.headers.origin, incoming.headers.host);
    assertPermission(access, spec, actor, options.permissions);
    assertOpen(spec, actor);
    if (spec.upload === true || spec.form !== undefined) await options.assertRoom('files');
    if (spec.takesMessage === true) await options.assertRoom('messages');
    const input = await parseInput(exchange, spec, actor, options);
    try {
      answered = await render(await handle(input), spec, headers);
      if (isByToken && answered !== streamed) delete answered.headers['set-cookie'];
    } finally {
      input.release();
    }
  } catch (error) {
    failure = toApiError(error);
    clientLeft = incoming.socket.destroyed && isAbort(error, request.signal);
    answered = outgoing.headersSent ? streamed : errorResponse(failure, request.id, headers, spec.errorsAs);
  }
  const status = clientLeft ? clientClosedRequest : answered === streamed ? outgoing.statusCode : answered.status;
  options.metrics.request(spec.method, spec.path, status, (systemClock.elapsed() - startedAt) / 1000);
  options.tracing.tell({ 'http.response.status_code': status });
  if (failure !== undefined && status >= 500) options.tracing.fail(failure.code);
  else options.tracing.tell({ 'homeport.error_code': failure?.code });
  logRequest(options.log, { spec, request, actor, failure, status, startedAt, clientLeft });
  return answered;
}

/** The address as in the endpoint table: without ids, and nothing of a query. */
function spanOf({ request }: Exchange, { spec }: MountedEndpoint): SpanStart {
  const facts = { 'http.request.method': spec.method, 'http.route': spec.path, 'homeport.request_id': request.id };
  return { kind: 'server', name: `${spec.method} ${spec.path}`, facts, parent: request.traceParent };
}

function isPublicCall(request: RequestFacts, { publicWith }: EndpointSpec): boolean {
  return publicWith !== undefined && request.query.has(publicWith);
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

/** A parsed request, and the function that returns its body's share of the budget. */
type HeldInput = ErasedInput & { release(): void };

async function parseInput(
  { incoming, request, params }: Exchange,
  spec: EndpointSpec,
  actor: Actor | undefined,
  options: RouterOptions,
): Promise<HeldInput> {
  const form = spec.form === undefined ? undefined : openForm(incoming, spec.form, await options.readUploadLimit());
  const upload =
    spec.upload === true ? openUpload(incoming, spec.uploadBytes ?? (await options.readUploadLimit())) : undefined;
  const sent = await readBody(incoming, spec, actor?.id ?? request.address, options.bodies);
  try {
    const body = spec.body === undefined || spec.bytes !== undefined ? sent.value : validate(spec.body, sent.value);
    assertMembers(spec, actor, body);
    return {
      actor,
      params: spec.params === undefined ? undefined : validate(spec.params, pathObject(params)),
      query: spec.query === undefined ? undefined : validate(spec.query, queryObject(request.query)),
      headers: spec.headers === undefined ? undefined : validate(spec.headers, headerObject(incoming.headers)),
      body,
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

function readBody(incoming: IncomingMessage, spec: EndpointSpec, sender: string, budget: RequestBodyBudget) {
  const reading: BodyReading = {
    maxBytes: maxBodyBytes(spec),
    pace: bodyPace,
    takeRoom: (bytes) => budget.take(sender, bytes, incoming),
  };
  if (spec.bytes !== undefined) return readSentBytes(incoming, spec.bytes, reading);
  return spec.body === undefined ? { value: undefined, release: () => undefined } : readJsonBody(incoming, reading);
}

async function render(
  output: unknown,
  spec: EndpointSpec,
  standard: Record<string, string>,
): Promise<HttpResponse | typeof streamed> {
  if (output === streamed) return output;
  if (output instanceof Content) {
    return { status: spec.status ?? 200, headers: { ...standard, ...output.headers }, body: output.body };
  }
  if (!(output instanceof Reply)) {
    return { status: spec.status ?? 200, headers: standard, body: await jsonBody(output) };
  }
  const headers: HttpResponse['headers'] = { ...standard };
  for (const [name, value] of output.headers) {
    if (name === 'set-cookie') headers[name] = [...(headers[name] ?? []), value];
    else headers[name] = value;
  }
  const body = output.body === undefined ? undefined : await jsonBody(output.body);
  return { status: output.status ?? spec.status ?? 200, headers, body };
}

/** Text, or, where it is long, bytes that were made in several turns of the event loop. */
async function jsonBody(value: unknown): Promise<string | Uint8Array> {
  return isLargeJson(value) ? encodeJson(value) : JSON.stringify(value);
}

function refuse(
  request: RequestFacts,
  options: RouterOptions,
  error: ApiError,
  { headers = {}, shape }: { headers?: Record<string, string>; shape: ErrorShape | undefined },
): HttpResponse {
  options.metrics.request(request.method, undefined, error.status, 0);
  const { id: requestId, address, method } = request;
  options.log.info({ requestId, address, method, code: error.code }, 'request');
  return errorResponse(error, request.id, { ...standardHeaders(request.id), ...headers }, shape);
}

/** The shape of errors about an address itself. */
function shapeOf(path: string): ErrorShape | undefined {
  if (!/^\/v1(?:\/|$)/.test(path)) return undefined;
  return path.startsWith('/v1/messages') ? 'anthropic' : 'openai';
}

type RequestLogFacts = {
  spec: EndpointSpec;
  request: RequestFacts;
  actor: Actor | undefined;
  failure: ApiError | undefined;
  status: number;
  startedAt: number;
  /** The client had already disconnected when the request failed. */
  clientLeft: boolean;
};

function reasonOf({ cause }: ApiError): string | undefined {
  return cause instanceof Error ? cause.message : undefined;
}

function logRequest(log: Logger, facts: RequestLogFacts): void {
  if (facts.failure === undefined && !log.isLevelEnabled('info')) return;
  const line = {
    requestId: facts.request.id,
    address: facts.request.address,
    method: facts.spec.method,
    path: facts.spec.path,
    status: facts.status,
    milliseconds: Math.round(systemClock.elapsed() - facts.startedAt),
    userId: facts.actor?.id,
    code: facts.clientLeft ? 'client_left' : facts.failure?.code,
    reason: facts.failure?.code === 'database_unavailable' ? reasonOf(facts.failure) : undefined,
  };
  if (!facts.clientLeft && facts.failure?.code === 'internal_error')
    log.error({ ...line, cause: facts.failure.cause }, 'request failed');
  else if (facts.spec.probe === true && facts.status < 400) log.debug(line, 'request');
  else log.info(line, 'request');
}
