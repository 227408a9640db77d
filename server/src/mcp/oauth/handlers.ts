import type { mcpEndpoints } from '@homeport/contracts/mcp/mcp';
import type { Deps } from '../../deps.ts';
import { type Actor, type Handler, Reply, type RequestFacts, sourceOf } from '../../http/handler.ts';
import { ownOrigin } from '../../http/origin.ts';
import {
  beginMcpSignIn,
  callbackPath,
  clientPath,
  endMcpSignIn,
  finishMcpSignIn,
  type SignInRequest,
} from './sign-in.ts';

type HandlerDeps = Pick<Deps, 'db' | 'secrets' | 'mcp' | 'egress' | 'config' | 'clock' | 'log'>;
type McpHandler<Name extends keyof typeof mcpEndpoints> = Handler<HandlerDeps, (typeof mcpEndpoints)[Name]>;

const productName = 'Homeport';

/** POST /api/mcp/connect */
export const postMcpConnect: McpHandler<'postMcpConnect'> = (deps, { actor, request, body }) =>
  beginMcpSignIn(deps, signInRequest(deps, actor, request), body);

/** DELETE /api/mcp/connect */
export const deleteMcpConnect: McpHandler<'deleteMcpConnect'> = async (deps, input) => ({
  server: await endMcpSignIn(deps, input.actor.id, input.query.id, sourceOf(input)),
});

/** GET /api/mcp/oauth/callback: its address contains the code, so it must not be sent as a Referer. */
export const getMcpCallback: McpHandler<'getMcpCallback'> = async (deps, input) => {
  const { actor, request, query } = input;
  const location = await finishMcpSignIn(deps, signInRequest(deps, actor, request), query, sourceOf(input));
  return new Reply(undefined, {
    status: 302,
    headers: [
      ['location', location],
      ['referrer-policy', 'no-referrer'],
    ],
  });
};

/** GET /api/mcp/oauth/client */
export const getMcpClient: McpHandler<'getMcpClient'> = ({ config }, { request }) => {
  const origin = ownOrigin(config, request);
  return {
    client_id: origin + clientPath,
    client_name: productName,
    client_uri: origin,
    redirect_uris: [origin + callbackPath],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'web',
  };
};

function signInRequest(deps: HandlerDeps, actor: Actor, request: RequestFacts): SignInRequest {
  return { owner: actor.id, sessionId: actor.sessionId, origin: ownOrigin(deps.config, request), productName };
}
