import type { JWTPayload } from 'jose';
import { fetchKeys, fetchUserinfo, type OidcDeps, type ProviderMetadata } from '../settings/oidc-provider.ts';

/** What an identity provider says of a person, its signature and its addressee checked. */
export type Claims = { subject: string; email: unknown; emailVerified: unknown; name: string | undefined };

/** Signatures that only the provider can make: never `none`, never HMAC, whose key would be public or the client's. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const clockToleranceSeconds = 30;
/** OpenID Connect Core, section 2: at most 255 ASCII characters. */
const subject = /^[\x20-\x7e]{1,255}$/;

export class IdTokenError extends Error {}

/**
 * Checks an id token as OpenID Connect Core section 3.1.3.7 wants it: signature, issuer, audience, authorized party, expiry,
 * nonce. Throws `IdTokenError`, and what `fetchKeys` throws.
 */
export async function verifyIdToken(
  deps: OidcDeps,
  metadata: ProviderMetadata,
  expected: { clientId: string; nonce: string },
  idToken: string,
): Promise<Claims> {
  const { createLocalJWKSet, jwtVerify } = await import('jose');
  const keys = createLocalJWKSet(await fetchKeys(deps, metadata));
  const { payload } = await jwtVerify(idToken, keys, {
    algorithms,
    issuer: metadata.issuer,
    audience: expected.clientId,
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(deps.clock.now()),
    requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
  }).catch((error: unknown) => {
    throw new IdTokenError(error instanceof Error ? error.message : 'not a token');
  });
  const { sub, nonce, azp, aud } = payload;
  if (nonce !== expected.nonce) throw new IdTokenError('another nonce');
  const isForOthersToo = Array.isArray(aud) && aud.length > 1;
  if ((isForOthersToo || azp !== undefined) && azp !== expected.clientId) throw new IdTokenError('another party');
  if (sub === undefined || !subject.test(sub)) throw new IdTokenError('no subject');
  return claimsOf(sub, payload);
}

/** The claims, with those of the userinfo endpoint where the token has no address; only if they are about the same subject. */
export async function completeClaims(
  deps: OidcDeps,
  metadata: ProviderMetadata,
  claims: Claims,
  accessToken: string | undefined,
): Promise<Claims> {
  if (claims.email !== undefined || metadata.userinfoEndpoint === undefined || accessToken === undefined) return claims;
  const found = await fetchUserinfo(deps, metadata.userinfoEndpoint, accessToken);
  if (found === undefined || found.sub !== claims.subject) return claims;
  const more = claimsOf(claims.subject, found);
  return { ...more, name: more.name ?? claims.name };
}

function claimsOf(sub: string, payload: JWTPayload): Claims {
  const names = [payload.name, payload.preferred_username];
  const name = names.find((value): value is string => typeof value === 'string' && value.trim() !== '');
  return { subject: sub, email: payload.email, emailVerified: payload.email_verified, name };
}
