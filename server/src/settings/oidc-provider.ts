import type { OidcConfiguration } from '@homeport/contracts/accounts/single-sign-on';
import { ApiError } from '@homeport/contracts/errors';
import { oneLine } from '@homeport/contracts/text/line';
import type { Config } from '../config/config.ts';
import { parseDestination } from '../egress/destination.ts';
import type { Egress } from '../egress/egress.ts';
import type { Clock } from '../platform/clock.ts';
import { parseForeignJson } from '../platform/json/json-scan.ts';
import { discoveryAddress, effectiveIssuer } from './oidc-issuer.ts';

/** The identity provider's side of OpenID Connect: its document and keys. Every call goes through the guard. */

export type OidcDeps = {
  config: Pick<Config, 'allowInsecureHttp'>;
  egress: Pick<Egress, 'request' | 'fetchWithin'>;
  clock: Clock;
};

/** The parts of the discovery document that we use. */
export type ProviderMetadata = {
  /** A template with `{tenantid}` where each tenant has its own issuer. */
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  jwksUri: string;
  userinfoEndpoint: string | undefined;
  endSessionEndpoint: string | undefined;
  /** Undefined where the document lists none. */
  promptValues: readonly string[] | undefined;
  tokenAuthMethods: readonly string[];
  /** The redirect to the browser names the issuer (RFC 9207). */
  sendsIssuer: boolean;
};

/** The credentials of this installation at the provider, and how to send them. */
export type OidcClient = {
  clientId: string;
  clientSecret: string | undefined;
  tokenAuth: OidcConfiguration['tokenAuth'];
};

/**
 * Signatures that only the provider can make: never `none`, and never HMAC, whose key would be public or known to the
 * client.
 */
export const signatureAlgorithms: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const bounds = { discoveryRedirects: 3, endpointMax: 2048, keys: 100 } as const;
/** Time and size limits of one call to a provider. */
export const oidcTimes = { totalTimeoutMs: 10_000, maxResponseBytes: 512 * 1024 } as const;
/** A document serves the sign-ins of this period too, so that strangers cannot make us fetch it at will. */
const documentMs = 60_000;
/** The same for an unusable one, shorter so that a fix takes effect soon. */
const unusableMs = 5_000;

/** The address that the provider redirects the browser to (control-plane-api.md "Authentication" 8). */
export function redirectUri(origin: string, providerKey: string): string {
  return `${origin}/api/auth/oauth2/callback/${providerKey}`;
}

/**
 * Reads the discovery document; `sentAt` is the provider's clock. Throws `blocked_destination`, `provider_unreachable`,
 * `provider_error`.
 */
export async function fetchDiscovery(
  deps: Pick<OidcDeps, 'egress'>,
  url: string,
): Promise<{ document: Record<string, unknown>; sentAt: number | undefined }> {
  const { status, body, sentAt } = await fetchJson(deps, url, bounds.discoveryRedirects);
  if (status === 200 && body !== undefined) return { document: body, sentAt };
  throw providerError(status, 'There is no discovery document at this address');
}

/** The members that sign-in needs, or a sentence for each problem with them. */
export function readMetadata(
  deps: Pick<OidcDeps, 'config'>,
  document: Record<string, unknown>,
): { metadata: ProviderMetadata } | { faults: string[] } {
  const faults: string[] = [];
  const endpoint = (name: string): string => {
    const value = document[name];
    const address = usableAddress(deps.config, value);
    if (address !== undefined) return address;
    faults.push(value === undefined ? `${name} is missing.` : `${name} is not an address that can be used.`);
    return '';
  };
  const metadata: ProviderMetadata = {
    issuer: typeof document.issuer === 'string' ? document.issuer : '',
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    jwksUri: endpoint('jwks_uri'),
    userinfoEndpoint: document.userinfo_endpoint === undefined ? undefined : endpoint('userinfo_endpoint'),
    endSessionEndpoint: usableAddress(deps.config, document.end_session_endpoint),
    promptValues: stringsOf(document.prompt_values_supported),
    tokenAuthMethods: stringsOf(document.token_endpoint_auth_methods_supported) ?? ['client_secret_basic'],
    sendsIssuer: document.authorization_response_iss_parameter_supported === true,
  };
  if (metadata.issuer === '') faults.push('issuer is missing.');
  const methods = stringsOf(document.code_challenge_methods_supported);
  if (methods !== undefined && !methods.includes('S256')) faults.push('PKCE with S256 is not supported.');
  const signed = stringsOf(document.id_token_signing_alg_values_supported);
  if (signed !== undefined && signed.length > 0 && !signed.some((name) => signatureAlgorithms.includes(name))) {
    const names = signed.slice(0, 5).join(', ').slice(0, 100);
    faults.push(`ID tokens are signed only with ${names}: choose a signing key at the provider, such as RS256.`);
  }
  return faults.length > 0 ? { faults } : { metadata };
}

type Kept = { key: string; readAt: number; keptMs: number; document: Promise<Record<string, unknown>> };
const kept = new WeakMap<OidcDeps['egress'], Kept>();

/**
 * The provider's metadata, with the configured issuer or, without one, the document's own. `revision` is the
 * configuration's. Throws `blocked_destination`, `provider_unreachable`, `provider_error`; unreachability is not
 * cached.
 */
export async function discover(
  deps: OidcDeps,
  oidc: { issuer: string; discoveryUrl: string },
  revision: number,
): Promise<ProviderMetadata> {
  const current = currentDocument(deps, discoveryAddress(oidc), revision);
  const found = readMetadata(deps, await current.document);
  const issuer = 'metadata' in found ? effectiveIssuer(oidc.issuer, found.metadata.issuer) : undefined;
  if ('metadata' in found && issuer !== undefined) return { ...found.metadata, issuer };
  current.keptMs = unusableMs;
  const names = 'metadata' in found ? 'names another issuer than the configured one' : 'cannot be used';
  throw providerError(200, `The discovery document ${names}`);
}

function currentDocument(deps: OidcDeps, url: string, revision: number): Kept {
  const now = deps.clock.now();
  const key = `${revision} ${url}`;
  const last = kept.get(deps.egress);
  if (last !== undefined && last.key === key && last.readAt + last.keptMs > now) return last;
  const next: Kept = {
    key,
    readAt: now,
    keptMs: documentMs,
    document: fetchDiscovery(deps, url).then(({ document }) => document),
  };
  kept.set(deps.egress, next);
  next.document.catch(() => {
    if (kept.get(deps.egress) === next) kept.delete(deps.egress);
  });
  return next;
}

/** The provider's signing keys as a JSON Web Key Set. Throws like `fetchDiscovery`. */
export async function fetchKeys(deps: Pick<OidcDeps, 'egress'>, metadata: ProviderMetadata) {
  const { status, body } = await fetchJson(deps, metadata.jwksUri, 0);
  const keys = Array.isArray(body?.keys) ? body.keys.filter(isSigningKey).slice(0, bounds.keys) : [];
  if (status !== 200 || keys.length === 0) throw providerError(status, 'The provider publishes no signing keys');
  return { keys };
}

async function fetchJson(deps: Pick<OidcDeps, 'egress'>, url: string, maxRedirects: number) {
  const { status, headers, body } = await deps.egress.request(url, {
    headers: { accept: 'application/json' },
    // A browser that disconnects does not end what other sign-ins wait for; only the total time does.
    signal: AbortSignal.timeout(2 * oidcTimes.totalTimeoutMs),
    ...oidcTimes,
    maxRedirects,
  });
  try {
    const sentAt = Date.parse(String(headers.date ?? '')) || undefined;
    return { status, sentAt, body: parseObject(await body.text(oidcTimes.maxResponseBytes)) };
  } finally {
    body.destroy();
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseForeignJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : undefined;
  } catch {
    return undefined;
  }
}

// The browser is sent to one of them: a `javascript:` address would run as a script in our page.
function usableAddress(config: OidcDeps['config'], value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > bounds.endpointMax) return undefined;
  const url = parseDestination(value);
  return url !== undefined && (url.protocol === 'https:' || config.allowInsecureHttp) ? value : undefined;
}

function isSigningKey(key: unknown): key is { kty: string } {
  if (typeof key !== 'object' || key === null || !('kty' in key)) return false;
  if ('use' in key && key.use !== 'sig') return false;
  return key.kty === 'RSA' || key.kty === 'EC' || key.kty === 'OKP';
}

/** A provider's own explanation as one bounded line of plain text; undefined if there is none. */
export function providerText(text: string | undefined): string | undefined {
  const line = oneLine((text ?? '').slice(0, explanationMax).toWellFormed());
  return line === '' ? undefined : line;
}

const explanationMax = 200;

function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

function providerError(status: number, message: string): ApiError {
  return new ApiError('provider_error', message, { details: { status } });
}
