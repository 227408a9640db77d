import { ApiError } from '@homeport/contracts/errors';
import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import { foreignJsonBounds, JsonScan } from '../platform/json/json-scan.ts';
import { type OidcClient, type OidcDeps, oidcTimes, type ProviderMetadata } from './oidc-provider.ts';

/** OpenID Connect by openid-client, on our guarded fetch and with metadata that we have checked. */
export type OpenIdClient = { protocol: typeof import('openid-client'); configuration: Configuration };

/**
 * Signatures that only the provider can make: never `none`, and never HMAC, whose key would be public or known to the
 * client.
 */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** How much the provider's clock may differ from ours. */
export const clockToleranceSeconds = 30;

/** The library, loaded at the first sign-in, as a client of this provider for one request. */
export async function openIdClient(
  deps: OidcDeps,
  metadata: ProviderMetadata,
  client: OidcClient,
): Promise<OpenIdClient> {
  const protocol = await import('openid-client');
  const server: ServerMetadata = {
    issuer: metadata.issuer,
    authorization_endpoint: metadata.authorizationEndpoint,
    token_endpoint: metadata.tokenEndpoint,
    jwks_uri: metadata.jwksUri,
    id_token_signing_alg_values_supported: algorithms,
    authorization_response_iss_parameter_supported: metadata.sendsIssuer,
    ...(metadata.userinfoEndpoint === undefined ? {} : { userinfo_endpoint: metadata.userinfoEndpoint }),
  };
  const times = {
    [protocol.clockSkew]: Math.round((deps.clock.now() - Date.now()) / 1000),
    [protocol.clockTolerance]: clockToleranceSeconds,
  };
  const configuration = new protocol.Configuration(
    server,
    client.clientId,
    times,
    authenticationOf(protocol, metadata, client),
  );
  configuration[protocol.customFetch] = readableOnly(deps.egress.fetchWithin(oidcTimes));
  // Reading the document already checked the endpoints against ALLOW_INSECURE_HTTP.
  if (deps.config.allowInsecureHttp) protocol.allowInsecureRequests(configuration);
  protocol.enableNonRepudiationChecks(configuration);
  return { protocol, configuration };
}

/** The same fetch, but a response with more JSON than the parse limit fails with `provider_error` while it is read. */
function readableOnly(base: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await base(input, init);
    if (response.body === null) return response;
    const scan = new JsonScan(foreignJsonBounds);
    const { status, statusText, headers } = response;
    const checked = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (scan.push(chunk) !== undefined) {
          const message = 'The provider answered with more than can be read';
          throw new ApiError('provider_error', message, { details: { status } });
        }
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(checked), { status, statusText, headers });
  };
}

/** The guard's or network's own error inside one of the library's, if there is one. */
export function causeOf(error: unknown): ApiError | undefined {
  let cause = error;
  for (let depth = 0; depth < 8 && cause instanceof Error; depth += 1) {
    if (cause instanceof ApiError) return cause;
    cause = cause.cause;
  }
  return undefined;
}

function authenticationOf(
  protocol: OpenIdClient['protocol'],
  { tokenAuthMethods }: ProviderMetadata,
  { clientSecret }: OidcClient,
): ClientAuth {
  if (clientSecret === undefined || clientSecret === '') return protocol.None();
  const usesBasic =
    tokenAuthMethods.includes('client_secret_basic') || !tokenAuthMethods.includes('client_secret_post');
  return usesBasic ? protocol.ClientSecretBasic(clientSecret) : protocol.ClientSecretPost(clientSecret);
}
