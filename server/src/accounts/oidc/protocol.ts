import type { OidcRefusal } from '@homeport/contracts/accounts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import type { AuthorizationCodeGrantChecks, IDToken } from 'openid-client';
import { parseForeignJson } from '../../platform/json/json-scan.ts';
import type { OidcSettings } from '../../settings/oidc.ts';
import { withClientAuthentication } from '../../settings/oidc-authentication.ts';
import {
  type AuthenticationWay,
  causeOf,
  clockToleranceSeconds,
  type HeldResponse,
  type OpenIdClient,
  openIdClient,
} from '../../settings/oidc-client.ts';
import { isTemplate, tenantIssuer } from '../../settings/oidc-issuer.ts';
import {
  fetchKeys,
  type OidcClient,
  type OidcDeps,
  type ProviderMetadata,
  redirectUri,
} from '../../settings/oidc-provider.ts';
import { type Claims, lacksClaims, readClaims } from './claims.ts';
import { oidcErrorCode, type ProviderWords, Refusal } from './refusals.ts';

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

/** OpenID Connect Core, section 2: at most 255 ASCII characters. */
const subjectForm = /^[\x20-\x7e]{1,255}$/;

/** The provider's address where the person signs in: authorization code with PKCE S256, state and nonce. */
export async function authorizationUrl(
  deps: OidcDeps,
  federation: Federation,
  { state, nonce, codeVerifier }: Challenge,
  { choosesAccount }: { choosesAccount: boolean },
): Promise<URL> {
  const { settings, metadata, client } = federation;
  const prompt = promptFor(settings.prompt, metadata.promptValues, choosesAccount);
  const { protocol, configuration } = await openIdClient(deps, metadata, client);
  return protocol.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri(federation.origin, settings.providerKey),
    scope: [...new Set(['openid', ...settings.scopes.split(/ +/)])].join(' '),
    state,
    nonce,
    code_challenge: await protocol.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(prompt === undefined ? {} : { prompt }),
  });
}

/** The configured prompt, or a choice of account where it is due, in a form that the provider has. */
function promptFor(
  configured: OidcSettings['prompt'],
  known: readonly string[] | undefined,
  choosesAccount: boolean,
): string | undefined {
  if (configured !== 'none') return configured;
  return choosesAccount ? ['select_account', 'login'].find((value) => known?.includes(value) ?? true) : undefined;
}

/** An ID token that makes the address longer than servers accept is left out. */
const hintMax = 6000;
const endSessionMax = 8192;

/** The address that ends the session at the provider (OpenID Connect RP-Initiated Logout), if the settings want that. */
export function endSessionAddress(
  { settings, metadata: { endSessionEndpoint }, client, origin }: Federation,
  idToken: string,
): string | undefined {
  if (!settings.endSession || endSessionEndpoint === undefined) return undefined;
  const url = new URL(endSessionEndpoint);
  const back = `${origin}/sign-in`;
  url.searchParams.set('client_id', client.clientId);
  url.searchParams.set('post_logout_redirect_uri', back);
  // Amazon Cognito has its own name for it.
  url.searchParams.set('logout_uri', back);
  if (idToken.length <= hintMax) url.searchParams.set('id_token_hint', idToken);
  return url.href.length <= endSessionMax ? url.href : undefined;
}

/** The person, and the ID token to sign out with at the provider. */
export type Redeemed = { claims: Claims; idToken: string };

/**
 * Reads what the provider sent the browser back with, exchanges its code for tokens, and checks the id token as OpenID
 * Connect Core section 3.1.3.7 requires. Throws `Refusal`, and what `fetchKeys` throws.
 */
export async function redeemAnswer(
  deps: OidcDeps,
  federation: Federation,
  answer: URLSearchParams,
  { state, nonce, codeVerifier }: Challenge,
): Promise<Redeemed> {
  const { metadata, client, origin, settings } = federation;
  const protocol = await import('openid-client');
  const url = new URL(`${redirectUri(origin, settings.providerKey)}?${answer}`);
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true };
  const held: HeldResponse = {};
  try {
    const keys = answer.has('code') ? await fetchKeys(deps, metadata) : { keys: [] };
    return await withClientAuthentication(deps, metadata, client, async (way) => {
      held.body = undefined;
      const issuer = await issuerOf(deps, federation, { url, checks, way, held });
      const openId = await openIdClient(deps, { ...metadata, issuer }, client, way, held);
      protocol.setJwksCache(openId.configuration, { jwks: keys, uat: Math.floor(Date.now() / 1000) });
      const tokens = await protocol.authorizationCodeGrant(openId.configuration, url, checks);
      const token = tokens.claims();
      if (token === undefined) throw new Refusal('invalid_token');
      assertToken(deps, client, token);
      return {
        claims: await completeClaims(openId, metadata, token, tokens.access_token),
        idToken: tokens.id_token ?? '',
      };
    });
  } catch (error) {
    throw causeOf(error) ?? refusalOf(protocol, error, held);
  }
}

type Exchange = {
  url: URL;
  checks: AuthorizationCodeGrantChecks;
  way: AuthenticationWay;
  held: HeldResponse;
};

/**
 * The issuer to check the token against. With a template, the code is exchanged first, and the issuer is read from the
 * response, which is then checked like any other.
 */
async function issuerOf(deps: OidcDeps, { metadata, client }: Federation, exchange: Exchange): Promise<string> {
  if (!isTemplate(metadata.issuer)) return metadata.issuer;
  const { url, checks, way, held } = exchange;
  const { protocol, configuration } = await openIdClient(deps, { ...metadata, sendsIssuer: false }, client, way, held);
  const exchanged = new URL(url);
  exchanged.searchParams.delete('iss');
  try {
    await protocol.authorizationCodeGrant(configuration, exchanged, checks);
  } catch (error) {
    if (unverifiedIdToken(held) === undefined) throw error;
  }
  const issuer = tenantIssuer(metadata.issuer, unverifiedPayload(unverifiedIdToken(held) ?? ''));
  if (issuer === undefined) throw new Refusal('invalid_token', 'The token names no issuer of one tenant');
  return issuer;
}

/** Checks that the library leaves to its user. */
function assertToken({ clock }: OidcDeps, { clientId }: OidcClient, { sub, iat, exp, azp }: IDToken): void {
  if (!subjectForm.test(sub)) throw new Refusal('invalid_token', 'no subject');
  if (azp !== undefined && azp !== clientId) throw new Refusal('invalid_token', 'another party');
  if (exp <= iat - slackSeconds) throw new Refusal('invalid_token', 'expired');
  const ahead = iat - Math.floor(clock.now() / 1000);
  if (ahead > clockToleranceSeconds) throw clocksDiffer(`The token was issued ${ahead} seconds in the future`);
}

/** The claims, with those of the userinfo endpoint that the token lacks, and only if they have the same subject. */
async function completeClaims(
  { protocol, configuration }: OpenIdClient,
  metadata: ProviderMetadata,
  token: IDToken,
  accessToken: string,
): Promise<Claims> {
  if (!lacksClaims(token) || metadata.userinfoEndpoint === undefined) return readClaims(token);
  try {
    return readClaims(token, await protocol.fetchUserInfo(configuration, accessToken, token.sub));
  } catch (error) {
    // Known people and complete tokens don't need it, so the policy decides whether this matters.
    const reason = causeOf(error)?.message ?? (error instanceof Error ? error.message : 'unreadable');
    const message = `The userinfo endpoint could not be read: ${reason}`;
    const userinfoFault = causeOf(error) ?? new ApiError('provider_error', message, { cause: error });
    return { ...readClaims(token), userinfoFault };
  }
}

/**
 * RFC 6749 section 5.2: only `invalid_grant` is about this code; the rest is about the provider or our configuration
 * there.
 */
function refusalOf(protocol: OpenIdClient['protocol'], error: unknown, held: HeldResponse): Refusal {
  if (error instanceof Refusal) return error;
  if (unverifiedIdToken(held)?.split('.').length === encryptedParts) {
    return new Refusal('token_encrypted', 'The provider encrypts its ID tokens (JWE), which is not supported');
  }
  const because = (code: OidcRefusal, said?: ProviderWords) =>
    new Refusal(code, error instanceof Error ? error.message : undefined, error, said);
  if (error instanceof protocol.AuthorizationResponseError) return because(oidcErrorCode(error.error), error);
  if (error instanceof protocol.ResponseBodyError) {
    return because(error.error === 'invalid_grant' ? 'invalid_token' : 'provider_error', error);
  }
  if (error instanceof protocol.WWWAuthenticateChallengeError) return because('provider_error');
  if (error instanceof protocol.ClientError) {
    if (error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_ABORT') return because('provider_unreachable');
    if (error.code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED' && wasValid(held)) return clocksDiffer(error.message, error);
    if (providerFaults.has(error.code ?? '')) return because('provider_error');
  }
  return because('invalid_token');
}

/** The library's codes for an unusable response: another status, or no JSON. */
const providerFaults = new Set(['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']);

/** A token that just left the provider is never old, so its time can only come from another clock. */
function clocksDiffer(message: string, cause?: unknown): Refusal {
  const seconds = clockToleranceSeconds;
  return new Refusal('clocks_differ', `The clocks differ by more than ${seconds} seconds: ${message}`, cause);
}

/** Whether the token was valid when it was issued, by the provider's own clock. */
function wasValid(held: HeldResponse): boolean {
  const { iat, exp, nbf } = unverifiedPayload(unverifiedIdToken(held) ?? '');
  if (typeof iat !== 'number' || typeof exp !== 'number') return true;
  return exp > iat - slackSeconds && (typeof nbf !== 'number' || nbf <= iat + slackSeconds);
}

/** Tolerance between the times of one token, which come from one clock. */
const slackSeconds = 30;

/** An encrypted token (JWE) has five parts, a signed one three. */
const encryptedParts = 5;

function unverifiedIdToken({ body, init }: HeldResponse): string | undefined {
  if (body === undefined || init?.status !== 200) return undefined;
  const response = parsed(body);
  return typeof response.id_token === 'string' ? response.id_token : undefined;
}

function unverifiedPayload(token: string): Record<string, unknown> {
  return parsed(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = parseForeignJson(text);
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    return {};
  }
}
