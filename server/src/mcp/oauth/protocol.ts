import { ApiError } from '@homeport/contracts/errors';
import type { AuthorizationServerMetadata, OAuthTokens } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import { assertPermitted, hostOf, isPrivateName, parseDestination } from '../../egress/destination.ts';
import type { Egress } from '../../egress/egress.ts';
import { findJsonExcess, foreignJsonBounds } from '../../platform/json/json-scan.ts';

/**
 * OAuth with the authorization servers of MCP servers, by the protocol's own library on our guarded fetch. Every
 * address in here was chosen by a stranger.
 */

export type OAuthDeps = {
  egress: Pick<Egress, 'fetchWithin'>;
  config: Pick<Config, 'allowPrivateEgress' | 'allowInsecureHttp'>;
};

const bounds = {
  totalTimeoutMs: 10_000,
  maxResponseBytes: 128 * 1024,
  scope: 2000,
  address: 2048,
  token: 16 * 1024,
  /** Ten years: longer lifetimes are capped. */
  lifeSeconds: 10 * 365 * 86_400,
} as const;

const address = z.string().max(bounds.address);
/** Metadata of an authorization server that sign-in and refresh use. */
export const authorizationServer = z.object({
  issuer: address,
  authorizationEndpoint: address,
  tokenEndpoint: address,
  registrationEndpoint: address.optional(),
  revocationEndpoint: address.optional(),
  authMethods: z.array(z.string().max(100)).max(50).optional(),
  /** It names itself when it sends the browser back (RFC 9207). */
  sendsIssuer: z.boolean(),
  /** It takes the address of a document as a client id. */
  readsDocuments: z.boolean(),
  /** It describes nothing: these are the default endpoints of the protocol version 2025-03-26. */
  isAssumed: z.boolean().optional(),
});
export type AuthorizationServer = z.infer<typeof authorizationServer>;

/** Our client at an authorization server. */
export type OAuthClient = { clientId: string; clientSecret?: string };

const token = z
  .string()
  .min(1)
  .max(bounds.token)
  .regex(/^[\x21-\x7e]+$/);
const tokenAnswer = z.object({
  access_token: token,
  token_type: z.string().regex(/^bearer$/i),
  refresh_token: token.optional(),
  expires_in: z.coerce.number().min(0).optional().catch(undefined),
  scope: z.string().max(bounds.scope).optional().catch(undefined),
});
export type Tokens = {
  accessToken: string;
  refreshToken: string | undefined;
  /** Seconds; undefined if the server does not say. */
  lifeSeconds: number | undefined;
  scope: string | undefined;
};

/** The challenge of a server that refused a request without sign-in (RFC 9728). */
export type Challenge = { metadataUrl?: string; scope?: string };

/**
 * Discovers the authorization server, resource and scopes of an MCP server. Throws `blocked_destination`,
 * `mcp_unreachable`.
 */
export async function discoverSignIn(
  deps: OAuthDeps,
  serverUrl: string,
  { metadataUrl, scope }: Challenge,
): Promise<{ server: AuthorizationServer; resource: string; scope: string | undefined }> {
  const library = await import('@modelcontextprotocol/client');
  const origins = { asked: '', answered: '' };
  const fetchFn = boundedFetch(deps, (asked, answered) => Object.assign(origins, { asked, answered }));
  const discover = (skipIssuerMetadataValidation: boolean) =>
    library.discoverOAuthServerInfo(serverUrl, {
      fetchFn,
      skipIssuerMetadataValidation,
      ...(metadataUrl === undefined ? {} : { resourceMetadataUrl: new URL(metadataUrl) }),
    });
  const found = await discover(false)
    .catch(async (error) => {
      const unchecked = error instanceof library.IssuerMismatchError ? await discover(true) : undefined;
      if (unchecked === undefined || !describesItself(unchecked, serverUrl)) throw error;
      return unchecked;
    })
    .catch((error) => {
      throw refusalOf(error, 'its sign-in could not be found');
    });
  const { resourceMetadata, authorizationServerMetadata: metadata } = found;
  if (metadata === undefined) {
    if (resourceMetadata !== undefined) throw refusal('no_sign_in', 'it does not say where to sign in');
    return { server: assumedServer(serverUrl), resource: withoutFragment(serverUrl), scope };
  }
  if (resourceMetadata !== undefined && !isResourceOf(resourceMetadata.resource, serverUrl)) {
    throw refusal('resource', 'its sign-in is for another server');
  }
  if (!metadata.code_challenge_methods_supported?.includes('S256')) {
    throw refusal('pkce', 'its sign-in does not support PKCE with S256');
  }
  const server = readServer(deps, metadata);
  assertOwnEndpoints(server, origins);
  const offered = strings(metadata.scopes_supported);
  const wanted = scope ?? (strings(resourceMetadata?.scopes_supported).join(' ') || undefined);
  const withRefresh = offered.includes('offline_access') ? joinScopes(wanted, 'offline_access') : wanted;
  return { server, resource: resourceMetadata?.resource ?? withoutFragment(serverUrl), scope: withRefresh };
}

/**
 * True for a server of the protocol version 2025-03-26 that is its own authorization server: its metadata are at the
 * root of its origin, whatever the path of the issuer, and everything in them is of this origin.
 */
function describesItself(
  found: { resourceMetadata?: unknown; authorizationServerMetadata?: AuthorizationServerMetadata },
  serverUrl: string,
): boolean {
  const metadata = found.authorizationServerMetadata;
  if (metadata === undefined || found.resourceMetadata !== undefined) return false;
  const {
    issuer,
    authorization_endpoint: authorize,
    token_endpoint: token,
    registration_endpoint: register,
  } = metadata;
  const { origin } = new URL(serverUrl);
  return [issuer, authorize, token, register].every((url) => url === undefined || URL.parse(url)?.origin === origin);
}

/** The default endpoints of a server that describes nothing (protocol version 2025-03-26, "Fallbacks"). */
function assumedServer(serverUrl: string): AuthorizationServer {
  const { origin } = new URL(serverUrl);
  return {
    issuer: origin,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    sendsIssuer: false,
    readsDocuments: false,
    isAssumed: true,
  };
}

/**
 * Codes, secrets and tokens go to these endpoints. Only the issuer may send them to another origin: metadata that came
 * by a redirect from elsewhere may name endpoints of the issuer's origin only. Throws `mcp_unreachable`.
 */
function assertOwnEndpoints(server: AuthorizationServer, metadataFrom: { asked: string; answered: string }): void {
  const { origin } = new URL(server.issuer);
  if (metadataFrom.asked === origin && metadataFrom.answered === origin) return;
  const endpoints = [server.tokenEndpoint, server.registrationEndpoint, server.revocationEndpoint];
  if (endpoints.every((endpoint) => endpoint === undefined || URL.parse(endpoint)?.origin === origin)) return;
  throw refusal('endpoint', 'its sign-in is described elsewhere and sends credentials to another server');
}

/** Every scope of both, once. */
export function joinScopes(one: string | undefined, other: string | undefined): string | undefined {
  const all = new Set(
    `${one ?? ''} ${other ?? ''}`.split(' ').filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)),
  );
  const joined = [...all].join(' ').slice(0, bounds.scope);
  return joined === '' ? undefined : joined;
}

/** The address for the person's browser, and the secret that proves later who asked. */
export async function authorizeAddress(
  deps: OAuthDeps,
  server: AuthorizationServer,
  client: OAuthClient,
  ask: { redirectUri: string; state: string; scope: string | undefined; resource: string },
): Promise<{ url: string; codeVerifier: string }> {
  const library = await import('@modelcontextprotocol/client');
  const { authorizationUrl, codeVerifier } = await library.startAuthorization(server.issuer, {
    metadata: metadataOf(server),
    clientInformation: informationOf(client),
    redirectUrl: ask.redirectUri,
    state: ask.state,
    ...(ask.scope === undefined ? {} : { scope: ask.scope }),
    resource: ask.resource,
  });
  assertOpenable(deps, authorizationUrl.href);
  return { url: authorizationUrl.href, codeVerifier };
}

/**
 * Exchanges a code for tokens, if the answer came from the server that was asked. Throws `mcp_unreachable`, with the
 * reason `forgotten` if the server no longer knows our client.
 */
export async function redeemCode(
  deps: OAuthDeps,
  server: AuthorizationServer,
  client: OAuthClient,
  answer: { code: string; iss: string | undefined; codeVerifier: string; redirectUri: string; resource: string },
): Promise<Tokens> {
  const library = await import('@modelcontextprotocol/client');
  try {
    const { code, iss, ...rest } = answer;
    library.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: server.issuer,
      issParameterSupported: server.sendsIssuer,
    });
    const tokens = await library.exchangeAuthorization(server.issuer, {
      metadata: metadataOf(server),
      clientInformation: informationOf(client),
      authorizationCode: code,
      ...(iss === undefined ? {} : { iss }),
      ...rest,
      addClientAuthentication: proofOf(server, client),
      fetchFn: boundedFetch(deps),
    });
    return readTokens(tokens);
  } catch (error) {
    if (isForgottenClient(error)) throw refusal('forgotten', 'it no longer knows this installation');
    throw refusalOf(error, 'it did not accept the sign-in');
  }
}

/**
 * Fresh tokens; `ended` if the server no longer accepts the old ones, `forgotten` if it no longer knows our client.
 * Throws for any other failure.
 */
export async function refreshTokens(
  deps: OAuthDeps,
  server: AuthorizationServer,
  client: OAuthClient,
  held: { refreshToken: string; resource: string },
): Promise<Tokens | 'ended' | 'forgotten'> {
  const library = await import('@modelcontextprotocol/client');
  try {
    const tokens = await library.refreshAuthorization(server.issuer, {
      metadata: metadataOf(server),
      clientInformation: informationOf(client),
      ...held,
      addClientAuthentication: proofOf(server, client),
      fetchFn: boundedFetch(deps),
    });
    return readTokens(tokens);
  } catch (error) {
    if (isForgottenClient(error)) return 'forgotten';
    if (oauthCode(error) === 'invalid_grant') return 'ended';
    throw refusalOf(error, 'its sign-in could not be renewed');
  }
}

/** True if the server no longer knows our client, so that only a new registration helps. */
function isForgottenClient(error: unknown): boolean {
  return ['invalid_client', 'unauthorized_client'].includes(oauthCode(error) ?? '');
}

/** Asks the server to forget a token (RFC 7009); whether it does is its own business. */
export async function revokeToken(
  deps: OAuthDeps,
  server: AuthorizationServer,
  client: OAuthClient,
  token: string,
): Promise<void> {
  const { revocationEndpoint } = server;
  if (revocationEndpoint === undefined) return;
  const body = new URLSearchParams({ token });
  const headers = new Headers({ accept: 'application/json' });
  proofOf(server, client)(headers, body);
  await boundedFetch(deps)(revocationEndpoint, { method: 'POST', headers, body }).catch(() => undefined);
}

/** The authorization server's own code in an OAuth error. */
function oauthCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function readServer(deps: OAuthDeps, metadata: AuthorizationServerMetadata): AuthorizationServer {
  assertOpenable(deps, metadata.authorization_endpoint);
  const registration = metadata.registration_endpoint;
  const methods = metadata.token_endpoint_auth_methods_supported;
  const extra = new Map<string, unknown>(Object.entries(metadata));
  const revocation = extra.get('revocation_endpoint');
  const read = authorizationServer.safeParse({
    issuer: metadata.issuer,
    authorizationEndpoint: metadata.authorization_endpoint,
    tokenEndpoint: metadata.token_endpoint,
    ...(registration === undefined ? {} : { registrationEndpoint: registration }),
    ...(typeof revocation === 'string' ? { revocationEndpoint: revocation } : {}),
    ...(methods === undefined ? {} : { authMethods: methods }),
    sendsIssuer: extra.get('authorization_response_iss_parameter_supported') === true,
    readsDocuments: extra.get('client_id_metadata_document_supported') === true,
  });
  if (!read.success) throw refusal('metadata', 'its sign-in describes itself in a way that cannot be used');
  return read.data;
}

/** Converts the stored metadata to the library's type. */
export function metadataOf(server: AuthorizationServer): AuthorizationServerMetadata {
  return {
    issuer: server.issuer,
    authorization_endpoint: server.authorizationEndpoint,
    token_endpoint: server.tokenEndpoint,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: server.sendsIssuer,
    ...(server.registrationEndpoint === undefined ? {} : { registration_endpoint: server.registrationEndpoint }),
    ...(server.authMethods === undefined ? {} : { token_endpoint_auth_methods_supported: server.authMethods }),
  };
}

/**
 * Authenticates our client by a method the server supports: the library does not encode the parts of `Basic` (RFC 6749,
 * section 2.3.1).
 */
function proofOf({ authMethods }: AuthorizationServer, { clientId, clientSecret }: OAuthClient) {
  const usesPost = authMethods?.includes('client_secret_post') && !authMethods.includes('client_secret_basic');
  return (headers: Headers, params: URLSearchParams): void => {
    if (clientSecret !== undefined && !usesPost) {
      const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
      headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
      return;
    }
    params.set('client_id', clientId);
    if (clientSecret !== undefined) params.set('client_secret', clientSecret);
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

function informationOf({ clientId, clientSecret }: OAuthClient) {
  return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
}

function readTokens(answer: OAuthTokens): Tokens {
  const read = tokenAnswer.safeParse(answer);
  if (!read.success) throw refusal('tokens', 'its sign-in answered with no usable token');
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: life, scope } = read.data;
  return {
    accessToken,
    refreshToken,
    scope,
    lifeSeconds: life === undefined ? undefined : Math.min(life, bounds.lifeSeconds),
  };
}

/** Throws `blocked_destination` unless a person's browser can be redirected there. */
function assertOpenable(deps: OAuthDeps, address: string): void {
  const url = parseDestination(address);
  const blocked = (): ApiError =>
    new ApiError('blocked_destination', 'The MCP server asks you to sign in at an address that is not allowed.');
  if (url === undefined) throw blocked();
  assertPermitted(deps.config, url.protocol === 'https:', hostOf(url.hostname));
  if (isPrivateName(hostOf(url.hostname)) && !deps.config.allowPrivateEgress) throw blocked();
}

/** The same origin, and the server's path or one above it (RFC 8707, RFC 9728 section 3.3). */
function isResourceOf(resource: string, serverUrl: string): boolean {
  const [named, asked] = [URL.parse(resource), new URL(serverUrl)];
  if (named === null || named.origin !== asked.origin) return false;
  const folder = named.pathname.endsWith('/') ? named.pathname : `${named.pathname}/`;
  return `${asked.pathname}/`.startsWith(folder);
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '');
}

function strings(values: unknown): string[] {
  return Array.isArray(values) ? values.filter((value): value is string => typeof value === 'string') : [];
}

/** Fetch bounded in time and size; never follows redirects of requests that carry secrets. */
export function boundedFetch(deps: OAuthDeps, onResponse?: (asked: string, answered: string) => void): typeof fetch {
  const { totalTimeoutMs, maxResponseBytes } = bounds;
  const base = deps.egress.fetchWithin({ totalTimeoutMs, maxResponseBytes });
  return async (input, init) => {
    const isSecret = (init?.method ?? 'GET') !== 'GET';
    const response = await base(input, { ...init, redirect: isSecret ? 'error' : 'follow' });
    const bytes = await response.arrayBuffer();
    const asked = input instanceof Request ? input.url : String(input);
    onResponse?.(new URL(asked).origin, new URL(response.url).origin);
    if (findJsonExcess(new Uint8Array(bytes), foreignJsonBounds) !== undefined) {
      throw refusal('too_large', 'its sign-in answered with more than can be read');
    }
    const isBodyless = response.status === 204 || response.status === 304;
    return new Response(isBodyless ? null : bytes, { status: response.status, headers: response.headers });
  };
}

export function refusal(reason: string, text: string): ApiError {
  return new ApiError('mcp_unreachable', `The MCP server could not be used: ${text}.`, { details: { reason } });
}

/** The guard's or our own refusal if there is one inside; never the stranger's words, which may quote a secret. */
export function refusalOf(error: unknown, text: string): ApiError {
  let cause = error;
  for (let depth = 0; depth < 6 && cause instanceof Error; depth += 1) {
    if (cause instanceof ApiError) {
      return cause.code === 'provider_unreachable' ? refusal('unreachable', `${text}: no answer`) : cause;
    }
    cause = cause.cause;
  }
  const name = error instanceof Error ? error.name : '';
  if (name === 'IssuerMismatchError') return refusal('issuer', 'its sign-in says it is another one');
  return refusal('sign_in', text);
}
