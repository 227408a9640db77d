import { type OidcRefusal, oidcRefusals } from '@homeport/contracts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { recordEvent } from '../audit.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { openClientSecret } from '../settings/oidc.ts';
import { discover } from '../settings/oidc-provider.ts';
import { readSettings } from '../settings/settings.ts';
import { addressHeader } from './auth.ts';
import type { Federation } from './authorization-code.ts';
import { createOidcAuth, federationMark, type OidcAuthDeps, type Outcome, refusalOfError } from './oidc-auth.ts';
import { oidcProviderId } from './oidc-identities.ts';
import { cookieRule, sessionCookieName } from './session-cookie.ts';
import { type SessionOrigin, storedUserAgent, trimSessions } from './sessions.ts';

export type OidcSignInDeps = OidcAuthDeps & { secrets: KeyRing };
/** The request of a browser: our public origin as it sees us, its cookies, and from where it comes. */
export type BrowserRequest = { origin: string; cookie: string | null; from: SessionOrigin; requestId: string };
export type Redirect = { location: string; cookies: string[] };

const failurePage = '/sign-in';

/**
 * Begins a sign-in: the address of the provider, and the cookie that ties it to this browser. Throws `invalid_request` for a foreign
 * address, `not_found` when there is no such provider, `credentials_unreadable`, and what `discover` throws: a provider that was down
 * is asked again each time.
 */
export async function beginOidcSignIn(
  deps: OidcSignInDeps,
  input: { provider: string; callbackURL?: string | undefined; errorCallbackURL?: string | undefined },
  request: BrowserRequest,
): Promise<{ url: string; cookies: string[] }> {
  assertOwnAddresses(input, request.origin);
  const federation = await loadFederation(deps, input.provider, request.origin);
  if (federation === undefined) throw new ApiError('not_found', 'There is no such identity provider');
  const auth = await createOidcAuth(deps, federation, {});
  const answer = await auth.api.signInSocial({
    body: {
      provider: oidcProviderId,
      callbackURL: input.callbackURL ?? '/',
      errorCallbackURL: input.errorCallbackURL ?? failurePage,
      disableRedirect: true,
      additionalData: { federation: federationMark(federation) },
    },
    headers: headersOf(request),
    returnHeaders: true,
  });
  await pruneBegun(deps);
  return { url: answer.response.url ?? '', cookies: answer.headers.getSetCookie() };
}

/** Ends a sign-in at our callback address: signed in and on to callbackURL, or to errorCallbackURL with the reason. */
export async function finishOidcSignIn(
  deps: OidcSignInDeps,
  input: { providerKey: string; query: URLSearchParams },
  request: BrowserRequest,
): Promise<Redirect> {
  const outcome: Outcome = {};
  const federation = await findFederation(deps, input.providerKey, request.origin, outcome);
  const query = answerOf(input.query);
  if (federation?.metadata.sendsIssuer && query.get('iss') === null) outcome.refusal = 'invalid_token';
  // Without its code it goes no further than to the address that its state names.
  if (outcome.refusal !== undefined) query.delete('code');
  const auth = await createOidcAuth(deps, federation, outcome);
  const url = `${request.origin}/api/auth/callback/${oidcProviderId}?${query}`;
  const answer = await auth.handler(new Request(url, { headers: headersOf(request) }));
  const cookies = answer.headers.getSetCookie();
  const location = answer.headers.get('location') ?? failurePage;
  const userId = signedInUser(outcome);
  if (userId !== undefined && opensSession(deps, cookies)) {
    await recordSignIn(deps, outcome, userId, request);
    return { location, cookies };
  }
  return { location: failureAt(location, refusalOf(outcome, location, request.origin)), cookies };
}

/** What an identity provider may answer through the browser (RFC 6749 section 4.1.2, RFC 9207); everything else is dropped. */
function answerOf(sent: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ['code', 'state', 'error', 'iss']) {
    const value = sent.get(name) ?? '';
    // A state of ours is letters and digits.
    if (value !== '' && (name !== 'state' || /^[\w-]{1,128}$/.test(value))) query.set(name, value);
  }
  return query;
}

function opensSession(deps: OidcSignInDeps, cookies: readonly string[]): boolean {
  const name = sessionCookieName(cookieRule(deps.config));
  return cookies.some((cookie) => cookie.startsWith(`${name}=`) && !cookie.startsWith(`${name}=;`));
}

/** The federation, or undefined and why in `outcome`. */
async function findFederation(
  deps: OidcSignInDeps,
  key: string,
  origin: string,
  outcome: Outcome,
): Promise<Federation | undefined> {
  try {
    const federation = await loadFederation(deps, key, origin);
    if (federation === undefined) outcome.refusal = 'sso_unavailable';
    return federation;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    outcome.refusal = refusalOfError(error);
    return undefined;
  }
}

/** Sign-ins that were begun and never ended: so many are kept at once, and each new one takes some old ones with it. */
const begunMax = 10_000;
const prunedAtOnce = 20;

/** Anybody may begin a sign-in, and each begins with a row. The ids are in the order of time, so the oldest are found at once. */
async function pruneBegun({ db, clock }: OidcSignInDeps): Promise<void> {
  await sql`
    with oldest as (select id, expires_at from verifications order by id limit ${prunedAtOnce}),
      beyond as (select id from verifications order by id desc offset ${begunMax} limit ${prunedAtOnce})
    delete from verifications where id in (
      select id from oldest where expires_at <= ${new Date(clock.now())} union all select id from beyond)`.execute(
    db.kysely,
  );
}

async function loadFederation(deps: OidcSignInDeps, key: string, origin: string): Promise<Federation | undefined> {
  const { oidc: settings } = await readSettings(deps.db.kysely);
  if (!settings.enabled || settings.providerKey !== key) return undefined;
  const client = { clientId: settings.clientId, clientSecret: openClientSecret(deps, settings.clientSecret) };
  return { settings, client, origin, metadata: await discover(deps, settings) };
}

/** Only our own pages: what is put into an address from elsewhere must not send people there after they signed in. */
function assertOwnAddresses(
  input: { callbackURL?: string | undefined; errorCallbackURL?: string | undefined },
  origin: string,
) {
  const message = 'An address of this installation only';
  const details = (['callbackURL', 'errorCallbackURL'] as const)
    .filter((path) => URL.parse(input[path] ?? '/', origin)?.origin !== origin)
    .map((path) => ({ path, message }));
  if (details.length > 0) throw new ApiError('invalid_request', message, { details });
}

function headersOf({ cookie, from }: BrowserRequest): Headers {
  const headers = new Headers({ [addressHeader]: from.address, 'user-agent': storedUserAgent(from.userAgent) });
  if (cookie !== null) headers.set('cookie', cookie);
  return headers;
}

async function recordSignIn(deps: OidcSignInDeps, outcome: Outcome, userId: string, request: BrowserRequest) {
  const source = { actorId: userId, address: request.from.address, requestId: request.requestId };
  const target = { targetType: 'user', targetId: userId };
  const { kysely } = deps.db;
  if (outcome.decision?.action === 'create-user')
    await recordEvent(kysely, source, { action: 'oidc.provisioned', ...target });
  if (outcome.decision?.action === 'link-account')
    await recordEvent(kysely, source, { action: 'oidc.linked', ...target });
  await recordEvent(kysely, source, { action: 'session.signed_in', details: { method: 'oidc' } });
  await trimSessions(deps, userId);
}

function signedInUser({ decision, createdUserId }: Outcome): string | undefined {
  if (decision === undefined || decision.action === 'refuse') return undefined;
  return decision.action === 'create-user' ? createdUserId : decision.user.id;
}

/** Better Auth's codes, and those of RFC 6749 section 4.1.2.1 that the provider sends through the browser. */
const known: Readonly<Record<string, OidcRefusal>> = {
  state_not_found: 'state_mismatch',
  state_invalid: 'state_mismatch',
  state_mismatch: 'state_mismatch',
  issuer_mismatch: 'invalid_token',
  nonce_binding_missing: 'state_mismatch',
  invalid_code: 'invalid_token',
  no_code: 'invalid_token',
  unable_to_get_user_info: 'invalid_token',
  account_not_linked: 'account_not_linked',
  access_denied: 'access_denied',
  login_required: 'access_denied',
  interaction_required: 'access_denied',
  consent_required: 'access_denied',
  server_error: 'provider_error',
  temporarily_unavailable: 'provider_unreachable',
  invalid_request: 'provider_error',
  unauthorized_client: 'provider_error',
  unsupported_response_type: 'provider_error',
  invalid_scope: 'provider_error',
};

function refusalOf(outcome: Outcome, location: string, origin: string): OidcRefusal {
  if (outcome.refusal !== undefined) return outcome.refusal;
  const code = URL.parse(location, origin)?.searchParams.getAll('error').at(-1) ?? '';
  // It was to be let in, but something came between: the same person in another window, or an administrator.
  if (outcome.decision !== undefined) return code === 'account_disabled' ? code : 'sign_in_failed';
  return oidcRefusals.find((refusal) => refusal === code) ?? known[code] ?? 'sign_in_failed';
}

/** The address with our code in place of whatever was there: nothing that the provider or a stranger wrote is shown. */
function failureAt(location: string, code: OidcRefusal): string {
  const [, path = '', search = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(location) ?? [];
  const query = new URLSearchParams(search);
  query.delete('error_description');
  query.set('error', code);
  return `${path}?${query}${fragment}`;
}
