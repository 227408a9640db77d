import type { OidcCheck } from '@homeport/contracts/accounts/single-sign-on';
import { ApiError } from '@homeport/contracts/errors';
import type { Database } from '../db/pool.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type OidcSettings, openClientSecret } from './oidc.ts';
import { withClientAuthentication } from './oidc-authentication.ts';
import { type AuthenticationWay, causeOf, clockToleranceSeconds, openIdClient } from './oidc-client.ts';
import { discoveryAddress, effectiveIssuer, isTemplate } from './oidc-issuer.ts';
import {
  fetchDiscovery,
  fetchKeys,
  type OidcClient,
  type OidcDeps,
  type ProviderMetadata,
  providerText,
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
  const { clientId, tokenAuth } = oidc;
  const clientSecret = hasAddress ? openClientSecret(deps, oidc) : undefined;
  const client = { clientId, clientSecret, tokenAuth };
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
    const metadata = await check('endpoints', () => checkEndpoints(deps, oidc, document));
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
  const { document, sentAt } = await fetchDiscovery(deps, discoveryAddress(oidc));
  const apart = sentAt === undefined ? 0 : Math.round(Math.abs(sentAt - Date.now()) / 1000);
  if (apart > clockToleranceSeconds) {
    throw failed(
      `The clocks of the provider and of this server differ by ${apart} seconds; at most ${clockToleranceSeconds} are possible. Set both by a time server (NTP).`,
    );
  }
  return { found: document, message: 'The discovery document was read.' };
}

async function checkIssuer(oidc: OidcSettings, document: Record<string, unknown>) {
  const named = typeof document.issuer === 'string' ? document.issuer.slice(0, 300) : '';
  if (named === '') throw failed('The discovery document names no issuer.');
  const issuer = effectiveIssuer(oidc.issuer, named);
  if (issuer === undefined) {
    throw failed(
      `The discovery document names the issuer ${named}, but the configured one is ${oidc.issuer}. They must be identical, including a final slash.`,
    );
  }
  if (!isTemplate(issuer)) return { found: undefined, message: `The issuer is ${issuer}.` };
  if (oidc.trustEmail) {
    throw failed(
      `People of every tenant can sign in, and each tenant decides which addresses its people have: enter the issuer with the id of your own tenant, or don't trust addresses (trustEmail).`,
    );
  }
  return { found: undefined, message: `The issuer is ${issuer}: people of every tenant can sign in.` };
}

async function checkEndpoints(deps: OidcTestDeps, oidc: OidcSettings, document: Record<string, unknown>) {
  const read = readMetadata(deps, document);
  if ('faults' in read) throw failed(read.faults.join(' '));
  const faults = faultsFor(oidc, read.metadata);
  if (faults.length > 0) throw failed(faults.join(' '));
  const { keys } = await fetchKeys(deps, read.metadata);
  const count = keys.length === 1 ? '1 signing key' : `${keys.length} signing keys`;
  const message = [`All endpoints were found, with ${count}.`, ...remarksOn(oidc, document)].join(' ');
  return { found: read.metadata, message };
}

/** A sentence for each setting that this provider does not support. */
function faultsFor(oidc: OidcSettings, { endSessionEndpoint, promptValues, tokenAuthMethods }: ProviderMetadata) {
  const faults: string[] = [];
  if (oidc.endSession && endSessionEndpoint === undefined) {
    faults.push('The provider has no end_session_endpoint, so signing out there (endSession) is not possible.');
  }
  if (oidc.prompt !== 'none' && promptValues !== undefined && !promptValues.includes(oidc.prompt)) {
    faults.push(`The provider does not support prompt=${oidc.prompt}.`);
  }
  const isSecretUsable =
    tokenAuthMethods.length === 0 || tokenAuthMethods.some((method) => secretMethods.includes(method));
  if (oidc.clientSecret !== null && !isSecretUsable) {
    const methods = tokenAuthMethods.slice(0, 5).join(', ').slice(0, 200);
    faults.push(`The provider takes no client secret as it is, only ${methods}: choose client_secret_basic there.`);
  }
  return faults;
}

const secretMethods = ['client_secret_basic', 'client_secret_post'];

/** Hints from members of the document that don't say what the provider does for this client. */
function remarksOn(oidc: OidcSettings, document: Record<string, unknown>): string[] {
  const claims = document.claims_supported;
  const remarks: string[] = [];
  if (Array.isArray(claims) && !claims.includes('email_verified') && !oidc.trustEmail) {
    remarks.push(
      'It does not list the claim email_verified: without it, new people are refused unless you trust its addresses (trustEmail).',
    );
  }
  const encryption = document.id_token_encryption_alg_values_supported;
  if (Array.isArray(encryption) && encryption.length > 0) {
    remarks.push('It can encrypt ID tokens: leave that off for this client, since encrypted ones are refused.');
  }
  return remarks;
}

/**
 * Requests tokens with a made-up code. A provider checks the client first, so it answers `invalid_grant` only to a
 * known client (RFC 6749, section 5.2).
 */
async function checkClient(deps: OidcTestDeps, metadata: ProviderMetadata, client: OidcClient, redirect: string) {
  if (client.clientId === '') throw failed('Give the client id.');
  const { status, error, said, way } = await tryCode(deps, metadata, client, redirect);
  if (error === 'invalid_grant') {
    const how =
      way === 'none' ? 'without a secret' : way === 'basic' ? 'and its secret' : 'and its secret, sent by POST';
    return { found: undefined, message: `The provider accepts the client id ${how}.` };
  }
  const reason = said === undefined ? '' : ` It says: ${said}`;
  if (error === 'invalid_client' || status === 401) {
    const other = await otherWay(deps, metadata, client, redirect);
    throw failed(`The provider refused the client id or the client secret.${other ?? reason}`);
  }
  if (error === 'unauthorized_client') {
    throw failed(`The provider does not allow this client the authorization code flow.${reason}`);
  }
  const answer = error === undefined ? `status ${status}` : error;
  throw failed(`The provider's answer (${answer}) does not say whether it accepts this client.${reason}`);
}

/** A hint if the provider accepts the secret only in the way that the settings exclude. */
async function otherWay(deps: OidcTestDeps, metadata: ProviderMetadata, client: OidcClient, redirect: string) {
  if (client.tokenAuth === 'auto' || client.clientSecret === undefined) return undefined;
  const { error } = await tryCode(deps, metadata, { ...client, tokenAuth: 'auto' }, redirect);
  if (error !== 'invalid_grant') return undefined;
  const right = client.tokenAuth === 'basic' ? 'by POST (post)' : 'in a header (basic)';
  return ` It accepts the secret ${right}: change tokenAuth, or set it to auto.`;
}

type Tried = { status: number; error: string | undefined; said?: string | undefined; way: AuthenticationWay };

/** The token endpoint's answer to that code: its status, and its error code and explanation if there are any. */
async function tryCode(
  deps: OidcTestDeps,
  metadata: ProviderMetadata,
  client: OidcClient,
  redirect: string,
): Promise<Tried> {
  const word = 'homeport-test-of-the-client';
  const parameters = { code: word, redirect_uri: redirect, code_verifier: `${word}-${word}` };
  const protocol = await import('openid-client');
  let used: AuthenticationWay = 'none';
  try {
    await withClientAuthentication(deps, metadata, client, async (way) => {
      used = way;
      const { configuration } = await openIdClient(deps, metadata, client, way);
      await protocol.genericGrantRequest(configuration, 'authorization_code', parameters);
    });
  } catch (error) {
    const refusal = causeOf(error);
    if (refusal !== undefined) throw refusal;
    if (error instanceof protocol.ResponseBodyError) {
      const known = /^[a-z_]{1,64}$/.test(error.error) ? error.error : undefined;
      return { status: error.status, error: known, said: providerText(error.error_description), way: used };
    }
    if (error instanceof protocol.WWWAuthenticateChallengeError) {
      return { status: error.status, error: undefined, way: used };
    }
    const answer = error instanceof Error ? error.cause : undefined;
    if (answer instanceof Response) return { status: answer.status, error: undefined, way: used };
  }
  return { status: 200, error: undefined, way: used };
}

function failed(message: string): ApiError {
  return new ApiError('provider_error', message);
}
