import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { type EndpointName, endpoints } from '@homeport/contracts/endpoints';
import { createTokenActorFinder } from './accounts/tokens/token-actor.ts';
import { canEditProviders } from './catalogue/catalogue-owner.ts';
import type { Deps } from './deps.ts';
import { RequestBodyBudget } from './http/body/request-body-budget.ts';
import type { Handler, HandlerInput } from './http/handler.ts';
import { unroutable } from './http/malformed-http.ts';
import { metricsResponse } from './http/metrics.ts';
import { originRule } from './http/origin.ts';
import type { WebClient } from './http/pages/web-client.ts';
import { watchProxies } from './http/proxy-watch.ts';
import { targetOf } from './http/request-facts.ts';
import { type HttpResponse, send } from './http/response.ts';
import { createRouter, type MountedEndpoint } from './http/router.ts';
import { canEditMcp } from './mcp/handlers.ts';
import { trustedProxies } from './platform/client-address.ts';
import { routes } from './routes.ts';
import { readOperation } from './settings/operation.ts';
import { isSharePath, sharedPageHeaders, sharePageToken } from './sharing/page-headers.ts';
import { hasShare } from './sharing/reading.ts';
import { createWorkspaceCaller } from './workspaces/identity.ts';

/** The whole HTTP application as a listener for Node's server. */
export function createApp(deps: Deps, web: WebClient | undefined): RequestListener {
  const { log, metrics, tracing, config } = deps;
  const trusted = trustedProxies(config.trustedProxies);
  const watchProxy = watchProxies(trusted, log);
  const identifyToken = createTokenActorFinder(deps);
  const router = createRouter(mounted(deps), {
    identify: deps.findActor,
    identifyToken,
    identifyWorkspace: createWorkspaceCaller(deps),
    permissions: {
      canEditProviders: (actor) => canEditProviders(config, actor),
      providersAreShared: config.edition === 'managed',
      canEditMcp,
    },
    origin: originRule(config.baseUrl),
    assertRoom: (use) => deps.disk.assertRoom(use),
    readUploadLimit: async () => (await readOperation(deps)).artifactMaxUploadBytes,
    bodies: new RequestBodyBudget(),
    trusted,
    log,
    metrics,
    tracing,
  });
  const listener = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    watchProxy(incoming);
    const target = targetOf(incoming);
    if (target === undefined) return send(outgoing, unroutable('invalid_request'));
    if (target.path.startsWith('/v1/')) {
      for (const [name, value] of Object.entries(gatewayCors)) outgoing.setHeader(name, value);
      if (incoming.method === 'OPTIONS') return void outgoing.writeHead(204).end();
    }
    if (await router(incoming, outgoing, { ...target, path: gatewayPath(target.path) })) return;
    const { path } = target;
    const isRead = incoming.method === 'GET' || incoming.method === 'HEAD';
    if (path === '/metrics' && isRead) {
      return send(outgoing, await metricsResponse(metrics, config.metricsToken, incoming, identifyToken));
    }
    if (web === undefined || !isRead || /^\/+(?:api|v1)(?:\/|$)/i.test(path)) return send(outgoing, nothingHere());
    if (isSharePath(path)) {
      for (const [name, value] of Object.entries(sharedPageHeaders)) outgoing.setHeader(name, value);
      const token = sharePageToken(path);
      const isThere = token !== undefined && (await hasShare(deps, token).catch(() => true));
      return web.servePage(isThere ? 200 : 404, outgoing);
    }
    await web.serve(path, incoming.headers['accept-encoding'] ?? '', outgoing);
  };
  return (incoming, outgoing) => {
    listener(incoming, outgoing).catch((error: unknown) => {
      log.error({ cause: error }, 'request failed');
      if (outgoing.headersSent) outgoing.destroy();
      else send(outgoing, unroutable('internal_error'));
    });
  };
}

/** Any page may call the gateway, which reads no cookies: its caller needs a token. */
const gatewayCors = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers':
    'authorization, content-type, x-api-key, anthropic-version, anthropic-beta, idempotency-key, x-homeport-conversation, ' +
    'anthropic-dangerous-direct-browser-access, openai-organization, openai-project, openai-beta, user-agent, ' +
    'x-stainless-arch, x-stainless-async, x-stainless-helper-method, x-stainless-lang, x-stainless-os, ' +
    'x-stainless-package-version, x-stainless-retry-count, x-stainless-runtime, x-stainless-runtime-version, ' +
    'x-stainless-timeout',
  'access-control-expose-headers':
    'x-request-id, retry-after, x-homeport-conversation, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, ' +
    'x-ratelimit-reset-requests',
  'access-control-max-age': '86400',
};

const modelPath = '/v1/models/';

/**
 * The path without a slash at its end, which some clients of /v1 send, and with a model's id as one segment: many ids
 * contain a slash.
 */
function gatewayPath(given: string): string {
  const path = /^\/v1\/.*[^/]\/$/.test(given) ? given.slice(0, -1) : given;
  if (!path.startsWith(modelPath)) return path;
  return `${modelPath}${path.slice(modelPath.length).replaceAll('/', '%2F')}`;
}

function nothingHere(): HttpResponse {
  return { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Not found' };
}

function mounted(deps: Deps): MountedEndpoint[] {
  return endpointNames.map((name) => bind(name, deps)).filter(({ spec }) => isHere(spec, deps));
}

function isHere({ edition }: EndpointSpec, { config }: Deps): boolean {
  return edition === undefined || edition === config.edition;
}

const endpointNames = Object.keys(endpoints).filter((name): name is EndpointName => Object.hasOwn(endpoints, name));

/** The table's types tie a row to its handler; the router works on any row, so types are erased here. */
function bind(name: EndpointName, deps: Deps): MountedEndpoint {
  const handler = routes[name] as Handler<Deps, EndpointSpec>;
  return { spec: endpoints[name], handle: (input) => handler(deps, input as HandlerInput<EndpointSpec>) };
}
