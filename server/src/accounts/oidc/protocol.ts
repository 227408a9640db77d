import type { OidcRefusal } from '@homeport/contracts/accounts';
import type { IDToken } from 'openid-client';
import type { OidcSettings } from '../../settings/oidc.ts';
import { causeOf, clockToleranceSeconds, type OpenIdClient, openIdClient } from '../../settings/oidc-client.ts';
import {
  fetchKeys,
  type OidcClient,
  type OidcDeps,
  type ProviderMetadata,
  redirectUri,
} from '../../settings/oidc-provider.ts';
import { oidcErrorCode, Refusal } from './refusals.ts';

/** One sign-in's view of the configuration: read for this request and not kept. */
export type Federation = {
  settings: OidcSettings;
  metadata: ProviderMetadata;
  client: OidcClient;
  /** Our public origin, for redirect_uri. */
  origin: string;
};

/** Secrets of one sign-in attempt. */
export type Challenge = { state: string; nonce: string; codeVerifier: string };

/** Claims of an ID token whose signature and audience have been verified. */
export type Claims = { subject: string; email: unknown; emailVerified: unknown; name: string | undefined };

/** OpenID Connect Core, section 2: at most 255 ASCII characters. */
const subjectForm = /^[\x20-\x7e]{1,255}$/;

/** The provider's address where the person signs in: authorization code with PKCE S256, state and nonce. */
export async function authorizationUrl(
  deps: OidcDeps,
  federation: Federation,
  { state, nonce, codeVerifier }: Challenge,
): Promise<URL> {
  const { settings, metadata, client } = federation;
  const { protocol, configuration } = await openIdClient(deps, metadata, client);
  return protocol.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri(federation.origin, settings.providerKey),
    scope: [...new Set(['openid', ...settings.scopes.split(/ +/)])].join(' '),
    state,
    nonce,
    code_challenge: await protocol.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
}

/**
 * Reads what the provider sent the browser back with, exchanges its code for tokens, and checks the id token as OpenID
 * Connect Core section 3.1.3.7 requires. Throws `Refusal`, and what `fetchKeys` throws.
 */
export async function redeemAnswer(
  deps: OidcDeps,
  federation: Federation,
  answer: URLSearchParams,
  { state, nonce, codeVerifier }: Challenge,
): Promise<Claims> {
  const client = await openIdClient(deps, federation.metadata, federation.client);
  const { protocol, configuration } = client;
  const url = new URL(`${redirectUri(federation.origin, federation.settings.providerKey)}?${answer}`);
  try {
    if (answer.has('code')) {
      const keys = await fetchKeys(deps, federation.metadata);
      protocol.setJwksCache(configuration, { jwks: keys, uat: Math.floor(Date.now() / 1000) });
    }
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    };
    const tokens = await protocol.authorizationCodeGrant(configuration, url, checks);
    const token = tokens.claims();
    if (token === undefined) throw new Refusal('invalid_token');
    assertToken(deps, federation.client, token);
    return await completeClaims(client, federation.metadata, claimsOf(token.sub, token), tokens.access_token);
  } catch (error) {
    throw causeOf(error) ?? refusalOf(protocol, error);
  }
}

/** Checks that the library leaves to its user. */
function assertToken({ clock }: OidcDeps, { clientId }: OidcClient, { sub, iat, azp }: IDToken): void {
  if (!subjectForm.test(sub)) throw new Refusal('invalid_token', 'no subject');
  if (azp !== undefined && azp !== clientId) throw new Refusal('invalid_token', 'another party');
  if (iat * 1000 > clock.now() + clockToleranceSeconds * 1000)
    throw new Refusal('invalid_token', 'issued in the future');
}

/**
 * The claims, with those of the userinfo endpoint if the token has no address, and only if they have the same subject.
 */
async function completeClaims(
  { protocol, configuration }: OpenIdClient,
  metadata: ProviderMetadata,
  claims: Claims,
  accessToken: string,
): Promise<Claims> {
  if (claims.email !== undefined || metadata.userinfoEndpoint === undefined) return claims;
  try {
    const found = await protocol.fetchUserInfo(configuration, accessToken, claims.subject);
    const more = claimsOf(claims.subject, found);
    return { ...more, name: more.name ?? claims.name };
  } catch (error) {
    const cause = causeOf(error);
    if (cause !== undefined) throw cause;
    return claims;
  }
}

function claimsOf(subject: string, payload: Readonly<Record<string, unknown>>): Claims {
  const names = [payload.name, payload.preferred_username];
  const name = names.find((value): value is string => typeof value === 'string' && value.trim() !== '');
  return { subject, email: payload.email, emailVerified: payload.email_verified, name };
}

/**
 * RFC 6749 section 5.2: only `invalid_grant` is about this code; the rest is about the provider or our configuration
 * there.
 */
function refusalOf(protocol: OpenIdClient['protocol'], error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const because = (code: OidcRefusal) => new Refusal(code, error instanceof Error ? error.message : undefined, error);
  if (error instanceof protocol.AuthorizationResponseError) return because(oidcErrorCode(error.error));
  if (error instanceof protocol.ResponseBodyError) {
    return because(error.error === 'invalid_grant' ? 'invalid_token' : 'provider_error');
  }
  if (error instanceof protocol.WWWAuthenticateChallengeError) return because('provider_error');
  if (error instanceof protocol.ClientError) {
    if (error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_ABORT') return because('provider_unreachable');
    if (providerFaults.has(error.code ?? '')) return because('provider_error');
  }
  return because('invalid_token');
}

/** The library's codes for an unusable response: another status, or no JSON. */
const providerFaults = new Set(['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']);
