import { ApiError } from '@homeport/contracts/errors';
import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import { foreignJsonBounds, JsonScan } from '../platform/json/json-scan.ts';
import {
  type OidcClient,
  type OidcDeps,
  oidcTimes,
  type ProviderMetadata,
  signatureAlgorithms,
} from './oidc-provider.ts';

/** OpenID Connect by openid-client, on our guarded fetch and with metadata that we have checked. */
export type OpenIdClient = { protocol: typeof import('openid-client'); configuration: Configuration };
/** Ways to send the client secret (OpenID Connect Core, section 9), or to be a client without one. */
export type AuthenticationWay = 'basic' | 'post' | 'none';
/** The response of the token endpoint, kept to be read twice. */
export type HeldResponse = { body?: string; init?: { status: number; headers: Headers } };

/** How much the provider's clock may differ from ours. */
export const clockToleranceSeconds = 120;

/**
 * The library, loaded at the first sign-in, as a client of this provider for one request. The token endpoint is asked
 * once: with a `held` response, that one is used again.
 */
export async function openIdClient(
  deps: OidcDeps,
  metadata: ProviderMetadata,
  client: OidcClient,
  way: AuthenticationWay = 'none',
  held?: HeldResponse,
): Promise<OpenIdClient> {
  const protocol = await import('openid-client');
  const server: ServerMetadata = {
    issuer: metadata.issuer,
    authorization_endpoint: metadata.authorizationEndpoint,
    token_endpoint: metadata.tokenEndpoint,
    jwks_uri: metadata.jwksUri,
    id_token_signing_alg_values_supported: [...signatureAlgorithms],
    userinfo_signing_alg_values_supported: [...signatureAlgorithms],
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
    authenticationOf(protocol, client, way),
  );
  const readable = readableOnly(deps.egress.fetchWithin(oidcTimes));
  configuration[protocol.customFetch] = held === undefined ? readable : holding(readable, metadata.tokenEndpoint, held);
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
  { clientSecret = '' }: OidcClient,
  way: AuthenticationWay,
): ClientAuth {
  if (way === 'none') return protocol.None();
  return way === 'basic' ? protocol.ClientSecretBasic(clientSecret) : protocol.ClientSecretPost(clientSecret);
}

/** Keeps the response of the token endpoint, and gives it again in place of a second request. */
function holding(base: typeof fetch, tokenEndpoint: string, held: HeldResponse): typeof fetch {
  return async (input, init) => {
    if (String(input) !== new URL(tokenEndpoint).href) return base(input, init);
    if (held.body === undefined) {
      const response = await base(input, init);
      held.init = { status: response.status, headers: response.headers };
      held.body = await response.text();
    }
    return new Response(held.body, held.init);
  };
}
