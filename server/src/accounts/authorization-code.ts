import { hash } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import type { OidcSettings } from '../settings/oidc.ts';
import {
  type OidcClient,
  type OidcDeps,
  type ProviderMetadata,
  redirectUri,
  requestToken,
} from '../settings/oidc-provider.ts';
import { IdTokenError } from './id-token.ts';

/** One sign-in's view of the configuration: read for this request, and nothing of it kept after. */
export type Federation = {
  settings: OidcSettings;
  metadata: ProviderMetadata;
  client: OidcClient;
  /** Our public origin, for redirect_uri. */
  origin: string;
};

/** What belongs to one sign-in and to no other. */
export type Challenge = { state: string; nonce: string; codeVerifier: string };

/** The address of the provider at which the person signs in: authorization code with PKCE S256, state and nonce. */
export function authorizationUrl(federation: Federation, { state, nonce, codeVerifier }: Challenge): URL {
  const { settings, metadata, client } = federation;
  const url = new URL(metadata.authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri(federation.origin, federation.settings.providerKey),
    scope: [...new Set(['openid', ...settings.scopes.split(/ +/)])].join(' '),
    state,
    nonce,
    code_challenge: hash('sha256', codeVerifier, 'base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** Changes the code for tokens. Throws `IdTokenError` when the provider refuses the code, and what `requestToken` throws. */
export async function redeemCode(
  deps: OidcDeps,
  federation: Federation,
  { code, codeVerifier }: { code: string; codeVerifier: string },
): Promise<{ idToken: string; accessToken: string | undefined }> {
  const { status, body } = await requestToken(deps, federation.metadata, federation.client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri(federation.origin, federation.settings.providerKey),
    code_verifier: codeVerifier,
  });
  if (status === 200 && typeof body?.id_token === 'string') {
    const accessToken = typeof body.access_token === 'string' ? body.access_token : undefined;
    return { idToken: body.id_token, accessToken };
  }
  if (status === 200) throw new IdTokenError('no id token');
  if (body?.error === 'invalid_grant') throw new IdTokenError('the code was refused');
  throw new ApiError('provider_error', 'The identity provider refused to exchange the code', { details: { status } });
}
