import type { accountEndpoints } from '@homeport/contracts/accounts/accounts';
import type { Config } from '../../config/config.ts';
import { type Handler, Reply, type RequestFacts, sourceOf } from '../../http/handler.ts';
import { ownOrigin } from '../../http/origin.ts';
import type { Platform } from '../../platform.ts';
import { listIdentities, removeIdentity } from './identities.ts';
import { type BrowserRequest, beginOidcLink, beginOidcSignIn, finishOidcSignIn } from './sign-in.ts';

type OidcHandlerDeps = Pick<Platform, 'db' | 'clock' | 'egress' | 'secrets' | 'log'> & {
  config: Pick<Config, 'baseUrl' | 'host' | 'authSecret' | 'allowInsecureHttp'>;
};
type OidcHandler<Name extends keyof typeof accountEndpoints> = Handler<
  OidcHandlerDeps,
  (typeof accountEndpoints)[Name]
>;

/** POST /api/auth/sign-in/social */
export const postSignInSocial: OidcHandler<'postSignInSocial'> = async (deps, { body, request }) => {
  const { url, cookies } = await beginOidcSignIn(deps, body, browserRequest(deps, request));
  return new Reply({ url, redirect: false }, { headers: cookies.map((cookie) => ['set-cookie', cookie]) });
};

/** POST /api/me/identities/link */
export const postIdentityLink: OidcHandler<'postIdentityLink'> = async (deps, { actor, body, request }) => {
  const { url, cookies } = await beginOidcLink(deps, actor, body ?? {}, browserRequest(deps, request));
  return new Reply({ url }, { headers: cookies.map((cookie) => ['set-cookie', cookie]) });
};

/** GET /api/me/identities */
export const getIdentities: OidcHandler<'getIdentities'> = async (deps, { actor }) => ({
  identities: await listIdentities(deps.db.kysely, actor.id),
});

/** DELETE /api/me/identities?id= */
export const deleteIdentity: OidcHandler<'deleteIdentity'> = async (deps, input) => {
  await removeIdentity(deps, input.actor.id, input.query.id, sourceOf(input));
  return { ok: true };
};

/** GET /api/auth/oauth2/callback/:providerKey */
export const getOidcCallback: OidcHandler<'getOidcCallback'> = async (deps, { params, request }) => {
  const input = { providerKey: params.providerKey, query: request.query };
  const { location, cookies } = await finishOidcSignIn(deps, input, browserRequest(deps, request));
  // The address of this response contains the code, so it must not be sent as a Referer.
  const headers: [string, string][] = [
    ['location', location],
    ['referrer-policy', 'no-referrer'],
    ...cookies.map((cookie): [string, string] => ['set-cookie', cookie]),
  ];
  return new Reply(undefined, { status: 302, headers });
};

function browserRequest(deps: OidcHandlerDeps, request: RequestFacts): BrowserRequest {
  return {
    origin: ownOrigin(deps.config, request),
    cookie: request.headers.get('cookie'),
    from: { address: request.address, userAgent: request.headers.get('user-agent') },
    requestId: request.id,
  };
}
