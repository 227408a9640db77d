import type { RequestListener } from 'node:http';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { type EndpointName, endpoints } from '@homeport/contracts/endpoints';
import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { canEditProviders } from './catalogue/catalogue-owner.ts';
import { trustedProxies } from './client-address.ts';
import type { Deps } from './deps.ts';
import { unroutable } from './http/bad-request.ts';
import { BodyRoom } from './http/body-room.ts';
import type { Handler, HandlerInput } from './http/handler.ts';
import { metricsResponse } from './http/metrics.ts';
import { originRule } from './http/origin.ts';
import { type AppEnvironment, type MountedEndpoint, mountEndpoints } from './http/router.ts';
import type { WebClient } from './http/web-client.ts';
import { canEditMcp } from './mcp/handlers.ts';
import { routes } from './routes.ts';
import { createWorkspaceCaller } from './workspaces/identity.ts';

/** The whole HTTP application as a listener for Node's server. */
export function createApp(deps: Deps, web: WebClient | undefined): RequestListener {
  const app = new Hono<AppEnvironment>({ strict: true });
  mountEndpoints(app, mounted(deps), {
    identify: deps.findActor,
    identifyWorkspace: createWorkspaceCaller(deps),
    permissions: {
      canEditProviders: (actor) => canEditProviders(deps.config, actor),
      providersAreShared: deps.config.edition === 'managed',
      canEditMcp,
    },
    origin: originRule(deps.config.baseUrl),
    assertRoom: (use) => deps.disk.assertRoom(use),
    maxUploadBytes: deps.config.artifactMaxUploadBytes,
    bodies: new BodyRoom(),
    trusted: trustedProxies(deps.config.trustedProxies),
    log: deps.log,
    metrics: deps.metrics,
  });
  app.get('/metrics', (context) =>
    metricsResponse(deps.metrics, deps.config.metricsToken, context.req.header('authorization')),
  );
  app.get('*', async (context) => {
    if (web === undefined || /^\/+api(?:\/|$)/i.test(context.req.path)) return context.notFound();
    await web.serve(context.req.path, context.req.header('accept-encoding') ?? '', context.env.outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  // Hono makes a new answer of the one to GET, which loses the mark that it has been sent already.
  const answerHead = async (request: Request, env: HttpBindings | Http2Bindings): Promise<Response> => {
    const response = await app.fetch(request, env);
    return env.outgoing.headersSent ? RESPONSE_ALREADY_SENT : response;
  };
  app.notFound((context) => context.text('Not found', 404));
  app.onError((error) => {
    deps.log.error({ cause: error }, 'request failed');
    return unroutable('internal_error');
  });
  return getRequestListener(
    (request, env) => (request.method === 'HEAD' ? answerHead(request, env) : app.fetch(request, env)),
    {
      overrideGlobalObjects: true,
      errorHandler: (error) => {
        if (error instanceof RequestError) return unroutable('invalid_request');
        deps.log.error({ cause: error }, 'request failed');
        return unroutable('internal_error');
      },
    },
  );
}

function mounted(deps: Deps): MountedEndpoint[] {
  return endpointNames.map((name) => bind(name, deps)).filter(({ spec }) => isHere(spec, deps));
}

function isHere({ edition }: EndpointSpec, { config }: Deps): boolean {
  return edition === undefined || edition === config.edition;
}

const endpointNames = Object.keys(endpoints).filter((name): name is EndpointName => Object.hasOwn(endpoints, name));

/** The table's types hold between a row and its handler; the router works on any row, so they end here. */
function bind(name: EndpointName, deps: Deps): MountedEndpoint {
  const handler = routes[name] as Handler<Deps, EndpointSpec>;
  return { spec: endpoints[name], handle: (input) => handler(deps, input as HandlerInput<EndpointSpec>) };
}
