import type { OidcCheck } from '@homeport/contracts/admin';
import { ApiError } from '@homeport/contracts/errors';
import type { Database } from '../db/pool.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type OidcSettings, openClientSecret } from './oidc.ts';
import { causeOf, openIdClient } from './oidc-client.ts';
import {
  discoveryAddress,
  fetchDiscovery,
  fetchKeys,
  type OidcClient,
  type OidcDeps,
  type ProviderMetadata,
  readMetadata,
} from './oidc-provider.ts';
import { forgetProvider, patchOidc, readSettings, type SettingsPatch } from './settings.ts';

export type OidcTestDeps = OidcDeps & { db: Pick<Database, 'kysely'>; secrets: KeyRing };

type CheckName = OidcCheck['name'];
const names = ['discovery', 'issuer', 'endpoints', 'client'] as const satisfies readonly CheckName[];

/**
 * Tests an OIDC configuration against its provider, each check building on the one before: the document, its issuer,
 * endpoints and keys, and whether the token endpoint accepts this client. Omitted values come from the stored
 * configuration. Throws `credentials_unreadable`; the provider's failures are reported in the checks.
 */
export async function testOidc(
  deps: OidcTestDeps,
  patch: SettingsPatch['oidc'],
  redirectUri: (providerKey: string) => string,
): Promise<{ ok: boolean; checks: OidcCheck[] }> {
  const { oidc: stored } = await readSettings(deps.db.kysely);
  const oidc = patchOidc(deps, stored, patch);
  const hasAddress = oidc.issuer !== '' || oidc.discoveryUrl !== '';
  const client = { clientId: oidc.clientId, clientSecret: hasAddress ? openClientSecret(deps, oidc) : undefined };
  const checks: OidcCheck[] = [];
  const check = async <T>(name: CheckName, work: () => Promise<{ message: string; found: T }>): Promise<T> => {
    try {
      const { message, found } = await work();
      checks.push({ name, ok: true, message });
      return found;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      checks.push({ name, ok: false, message: error.message });
      throw error;
    }
  };
  try {
    const document = await check('discovery', () => checkDiscovery(deps, oidc));
    await check('issuer', () => checkIssuer(oidc, document));
    const metadata = await check('endpoints', () => checkEndpoints(deps, document));
    await check('client', () => checkClient(deps, metadata, client, redirectUri(oidc.providerKey)));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  for (const name of names.slice(checks.length)) {
    checks.push({ name, ok: false, message: 'Skipped because the previous check failed.' });
  }
  const ok = checks.every((check) => check.ok);
  if (ok) await forgetProvider(deps.db.kysely);
  return { ok, checks };
}

async function checkDiscovery(deps: OidcTestDeps, oidc: OidcSettings) {
  if (oidc.issuer === '' && oidc.discoveryUrl === '') throw failed('Give the issuer or the discovery URL.');
  const found = await fetchDiscovery(deps, discoveryAddress(oidc));
  return { found, message: 'The discovery document was read.' };
}

async function checkIssuer(oidc: OidcSettings, document: Record<string, unknown>) {
  const named = typeof document.issuer === 'string' ? document.issuer.slice(0, 300) : '';
  if (named === '') throw failed('The discovery document names no issuer.');
  if (oidc.issuer !== '' && oidc.issuer !== named) {
    throw failed(
      `The discovery document names the issuer ${named}, but the configured one is ${oidc.issuer}. They must be identical, including a final slash.`,
    );
  }
  return { found: undefined, message: `The issuer is ${named}.` };
}

async function checkEndpoints(deps: OidcTestDeps, document: Record<string, unknown>) {
  const read = readMetadata(deps, document);
  if ('faults' in read) throw failed(read.faults.join(' '));
  const { keys } = await fetchKeys(deps, read.metadata);
  const count = keys.length === 1 ? '1 signing key' : `${keys.length} signing keys`;
  return { found: read.metadata, message: `All endpoints were found, with ${count}.` };
}

/**
 * Requests tokens with a made-up code. A provider checks the client first, so it answers `invalid_grant` only to a
 * known client (RFC 6749, section 5.2).
 */
async function checkClient(deps: OidcTestDeps, metadata: ProviderMetadata, client: OidcClient, redirect: string) {
  if (client.clientId === '') throw failed('Give the client id.');
  const { status, error } = await tryCode(deps, metadata, client, redirect);
  if (error === 'invalid_grant') {
    const how = client.clientSecret === undefined ? 'without a secret' : 'and its secret';
    return { found: undefined, message: `The provider accepts the client id ${how}.` };
  }
  if (error === 'invalid_client' || status === 401)
    throw failed('The provider refused the client id or the client secret.');
  if (error === 'unauthorized_client')
    throw failed('The provider does not allow this client the authorization code flow.');
  const answer = error === undefined ? `status ${status}` : error;
  throw failed(`The provider's answer (${answer}) does not say whether it accepts this client.`);
}

/** The token endpoint's answer to that code: its status, and its error code if there is one. */
async function tryCode(deps: OidcTestDeps, metadata: ProviderMetadata, client: OidcClient, redirect: string) {
  const { protocol, configuration } = await openIdClient(deps, metadata, client);
  const word = 'homeport-test-of-the-client';
  const parameters = { code: word, redirect_uri: redirect, code_verifier: `${word}-${word}` };
  try {
    await protocol.genericGrantRequest(configuration, 'authorization_code', parameters);
  } catch (error) {
    const refusal = causeOf(error);
    if (refusal !== undefined) throw refusal;
    if (error instanceof protocol.ResponseBodyError) {
      return { status: error.status, error: /^[a-z_]{1,64}$/.test(error.error) ? error.error : undefined };
    }
    if (error instanceof protocol.WWWAuthenticateChallengeError) return { status: error.status, error: undefined };
    const answer = error instanceof Error ? error.cause : undefined;
    if (answer instanceof Response) return { status: answer.status, error: undefined };
  }
  return { status: 200, error: undefined };
}

function failed(message: string): ApiError {
  return new ApiError('provider_error', message);
}
