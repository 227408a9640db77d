import { type AuthenticationWay, causeOf, type OpenIdClient } from './oidc-client.ts';
import type { OidcClient, OidcDeps, ProviderMetadata } from './oidc-provider.ts';

/** How a client authenticates at the token endpoint: providers announce both ways, and accept the one set for a client. */

/** Per replica: the way that a provider last accepted from a client. */
const accepted = new WeakMap<OidcDeps['egress'], { key: string; way: AuthenticationWay }>();

/**
 * Runs `work` with each way in turn until one is not refused. `work` gets errors of the token endpoint thrown by the
 * library; it is called again only if that endpoint refused the client itself. Resolves with the way as well.
 */
export async function withClientAuthentication<T>(
  deps: OidcDeps,
  metadata: ProviderMetadata,
  client: OidcClient,
  work: (way: AuthenticationWay) => Promise<T>,
): Promise<T> {
  const key = JSON.stringify([metadata.tokenEndpoint, client.clientId]);
  const last = accepted.get(deps.egress);
  const ways = waysOf(metadata, client, last?.key === key ? last.way : undefined);
  const protocol = await import('openid-client');
  let first: unknown;
  for (const [index, way] of ways.entries()) {
    try {
      const result = await work(way);
      accepted.set(deps.egress, { key, way });
      return result;
    } catch (error) {
      const isRefused = refusesClient(protocol, error);
      if (!isRefused && hasAnswer(protocol, error)) accepted.set(deps.egress, { key, way });
      first ??= error;
      if (!isRefused) throw error;
      if (index === ways.length - 1) throw first;
    }
  }
  throw first;
}

/** The ways to try, the most likely one first. */
function waysOf(
  { tokenAuthMethods }: ProviderMetadata,
  { clientSecret, tokenAuth }: OidcClient,
  last: AuthenticationWay | undefined,
): AuthenticationWay[] {
  if (clientSecret === undefined || clientSecret === '') return ['none'];
  if (tokenAuth !== 'auto') return [tokenAuth];
  const isPostOnly =
    tokenAuthMethods.includes('client_secret_post') && !tokenAuthMethods.includes('client_secret_basic');
  const ways: AuthenticationWay[] =
    (last ?? (isPostOnly ? 'post' : 'basic')) === 'post' ? ['post', 'basic'] : ['basic', 'post'];
  return ways;
}

/**
 * RFC 6749, section 5.2, as providers read it: some call a secret that is sent the other way a malformed request or an
 * unauthorized client, and some answer 401 without a code.
 */
function refusesClient(protocol: OpenIdClient['protocol'], error: unknown): boolean {
  if (causeOf(error) !== undefined) return false;
  if (error instanceof protocol.WWWAuthenticateChallengeError) return true;
  if (error instanceof protocol.ResponseBodyError) {
    return ['invalid_client', 'unauthorized_client', 'invalid_request'].includes(error.error);
  }
  const response = error instanceof Error ? error.cause : undefined;
  return response instanceof Response && response.status === 401;
}

/** The endpoint answered about the code, so it knows the client. */
function hasAnswer(protocol: OpenIdClient['protocol'], error: unknown): boolean {
  return error instanceof protocol.ResponseBodyError && error.error === 'invalid_grant';
}
