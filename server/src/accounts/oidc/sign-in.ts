import { randomBytes } from 'node:crypto';
import type { OidcRefusal } from '@homeport/contracts/accounts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import type { Logger } from 'pino';
import { recordRefusedSignOn } from '../../audit/audit.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../db/pool.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { readable } from '../../secrets/reseal.ts';
import { openClientSecret } from '../../settings/oidc.ts';
import { discover, type OidcDeps, providerText } from '../../settings/oidc-provider.ts';
import { readSettings } from '../../settings/settings.ts';
import { ownAddress, withError } from '../own-address.ts';
import {
  type CookieRule,
  chooseAccountCookie,
  clearedCookie,
  cookieRule,
  readChooseAccount,
  readSessionCookie,
  readStateCookie,
  sessionCookies,
  stateCookie,
} from '../session-cookie.ts';
import { assertRecentSession, findSessionAndUser, type SessionOrigin } from '../sessions.ts';
import { linkIdentity, openOidcSession } from './accounts.ts';
import { authorizationUrl, type Federation, type Redeemed, redeemAnswer } from './protocol.ts';
import { Refusal, toRefusal } from './refusals.ts';
import { type BegunSignIn, insertState, stateSeconds, takeState } from './states.ts';

export type OidcSignInDeps = OidcDeps & {
  config: Pick<Config, 'baseUrl' | 'authSecret'>;
  db: Pick<Database, 'kysely'>;
  secrets: KeyRing;
  log: Pick<Logger, 'warn'>;
};
/** A browser's request: our public origin as it sees us, its cookies, and where it comes from. */
export type BrowserRequest = { origin: string; cookie: string | null; from: SessionOrigin; requestId: string };
export type Redirect = { location: string; cookies: string[] };

const failurePage = '/sign-in';
const identitiesPage = '/settings/account';

/**
 * Begins a sign-in: the provider's address, and the cookie that ties it to this browser. Throws `invalid_request` for a
 * foreign address, `not_found` for an unknown provider, `credentials_unreadable`, and what `discover` throws; a
 * provider that was down is asked again each time.
 */
export async function beginOidcSignIn(
  deps: OidcSignInDeps,
  input: { provider: string; callbackURL?: string; errorCallbackURL?: string },
  request: BrowserRequest,
  link: { linkTo?: string } = {},
): Promise<{ url: string; cookies: string[] }> {
  const addresses = ownAddresses(input, request.origin);
  const federation = await federationOf(deps, await readProvider(deps, input.provider), request.origin);
  const rule = cookieRule(deps.config);
  const choosesAccount = readChooseAccount(rule, request.cookie);
  const states = readStateCookie(rule, request.cookie);
  const { url, cookie } = await start(deps, federation, { ...addresses, ...link, choosesAccount }, states);
  return { url, cookies: [cookie] };
}

/** The provider's address for a new sign-in, and the cookie with its state and `states`. */
async function start(
  deps: OidcSignInDeps,
  federation: Federation,
  wanted: Pick<BegunSignIn, 'callbackURL' | 'errorCallbackURL' | 'linkTo'> & { choosesAccount: boolean },
  states: readonly string[],
): Promise<{ url: string; cookie: string }> {
  const { state, ...secrets } = { state: secret(), nonce: secret(), codeVerifier: secret() };
  const url = await authorizationUrl(deps, federation, { state, ...secrets }, wanted);
  const begun = { ...wanted, ...secrets, federation: federationMark(federation) };
  await insertState(deps.db.kysely, state, begun, deps.clock.now());
  return { url: url.href, cookie: stateCookie(cookieRule(deps.config), [...states, state], stateSeconds) };
}

/**
 * Begins to link an identity to the account of a signed-in person, which ends like a sign-in. Throws
 * `recent_sign_in_required`, and what `beginOidcSignIn` throws.
 */
export async function beginOidcLink(
  deps: OidcSignInDeps,
  caller: { id: string; sessionId: string },
  input: { callbackURL?: string; errorCallbackURL?: string },
  request: BrowserRequest,
): Promise<{ url: string; cookies: string[] }> {
  await assertRecentSession(deps.db.kysely, caller.sessionId, deps.clock.now());
  const { oidc } = await readSettings(deps.db.kysely);
  const pages = { callbackURL: identitiesPage, errorCallbackURL: identitiesPage };
  return beginOidcSignIn(deps, { ...pages, ...input, provider: oidc.providerKey }, request, { linkTo: caller.id });
}

/**
 * Ends a sign-in at our callback address: redirects to callbackURL signed in, or to errorCallbackURL with the reason.
 */
export async function finishOidcSignIn(
  deps: OidcSignInDeps,
  input: { providerKey: string; query: URLSearchParams },
  request: BrowserRequest,
): Promise<Redirect> {
  const rule = cookieRule(deps.config);
  const answer = answerOf(input.query);
  const state = answer.get('state') ?? '';
  const states = readStateCookie(rule, request.cookie);
  const isThisBrowser = state !== '' && states.includes(state);
  const begun = isThisBrowser ? await takeState(deps.db.kysely, state, deps.clock.now()) : undefined;
  const others = states.filter((other) => other !== state);
  const forgotten = isThisBrowser ? [stateCookie(rule, others, stateSeconds)] : [];
  try {
    const provider = await readProvider(deps, input.providerKey);
    if (begun === undefined) throw new Refusal('state_mismatch');
    const federation = await federationOf(deps, provider, request.origin);
    // One provider's code is never sent to another (RFC 9700, section 4.4).
    if (begun.federation !== federationMark(federation)) throw new Refusal('sso_unavailable', 'Another provider');
    if (begun.choosesAccount === true && promptErrors.has(answer.get('error') ?? '')) {
      const { url, cookie } = await start(deps, federation, { ...begun, choosesAccount: false }, others);
      return { location: url, cookies: [cookie, ...clearedChoice(rule, request.cookie)] };
    }
    const redeemed = await redeemAnswer(deps, federation, answer, { ...begun, state });
    const cookies = await welcome(deps, federation, redeemed, begun, request);
    const location = ownAddress(begun.callbackURL, request.origin) ?? '/';
    return { location, cookies: [...cookies, ...forgotten] };
  } catch (error) {
    const refusal = toRefusal(error);
    const { code } = refusal;
    await recordRefusal(deps, refusal, begun !== undefined, request);
    const page = ownAddress(begun?.errorCallbackURL ?? failurePage, request.origin) ?? failurePage;
    return {
      location: withError(page, request.origin, code),
      cookies: [...forgotten, ...nextPrompt(deps, code, request)],
    };
  }
}

/** Errors with which a provider answers a prompt that it does not have: the sign-in begins again without one. */
const promptErrors: ReadonlySet<string> = new Set([
  'invalid_request',
  'account_selection_required',
  'interaction_required',
]);

/** Signs the person in, or links the identity to their account. Resolves with cookies. Throws `Refusal`. */
async function welcome(
  deps: OidcSignInDeps,
  federation: Federation,
  redeemed: Redeemed,
  { linkTo }: BegunSignIn,
  { cookie, from, requestId }: BrowserRequest,
): Promise<string[]> {
  const rule = cookieRule(deps.config);
  const source = { address: from.address, requestId };
  if (linkTo === undefined) {
    const token = await openOidcSession(deps, federation, redeemed, from, source);
    return [...sessionCookies(rule, token, true), ...clearedChoice(rule, cookie)];
  }
  // Another person can have signed in meanwhile.
  const session = readSessionCookie(rule, cookie);
  const found = session && (await findSessionAndUser(deps.db.kysely, session.token));
  const isSignedIn = found?.user.enabled && found.session.expires_at.getTime() > deps.clock.now();
  if (!isSignedIn || found.user.id !== linkTo) throw new Refusal('state_mismatch', 'Another person is signed in');
  await linkIdentity(deps, federation, redeemed.claims, linkTo, source);
  return clearedChoice(rule, cookie);
}

/** Refusals of one account at the provider: the next try asks for another one. */
const refusalsOfAccount: ReadonlySet<OidcRefusal> = new Set([
  ...(['domain_not_allowed', 'email_missing', 'email_not_verified', 'account_disabled'] as const),
  ...(['account_not_linked', 'signup_disabled', 'identity_taken'] as const),
]);

/** The next sign-in asks for a choice of account after such a refusal; a provider's error ends that. */
function nextPrompt(deps: OidcSignInDeps, code: OidcRefusal, { cookie }: BrowserRequest): string[] {
  const rule = cookieRule(deps.config);
  if (code === 'state_mismatch') return [];
  if (!refusalsOfAccount.has(code)) return clearedChoice(rule, cookie);
  return [chooseAccountCookie(rule)];
}

function clearedChoice(rule: CookieRule, cookie: string | null): string[] {
  return readChooseAccount(rule, cookie) ? [clearedCookie(rule, 'choose_account')] : [];
}

/**
 * Records a refusal in the log, and in the audit log if the sign-in began here: with the provider's own explanation,
 * as one bounded line.
 */
async function recordRefusal(
  deps: OidcSignInDeps,
  { code, message, cause, said }: Refusal,
  hasBegun: boolean,
  { from, requestId }: BrowserRequest,
): Promise<void> {
  const explanation = {
    ...withText('error', said?.error),
    ...withText('description', said?.error_description),
  };
  deps.log.warn({ refusal: code, cause: cause ?? message, ...explanation }, 'single sign-on failed');
  if (!hasBegun) return;
  const source = { actorId: null, address: from.address, requestId };
  const reason = message === code || said !== undefined ? {} : withText('reason', message);
  await recordRefusedSignOn(deps.db.kysely, source, { refusal: code, ...reason, ...explanation });
}

function withText(name: string, text: string | undefined): Record<string, string> {
  const line = providerText(text);
  return line === undefined ? {} : { [name]: line };
}

/**
 * Parameters that an identity provider sends through the browser (RFC 6749 section 4.1.2, RFC 9207); all others are
 * dropped.
 */
function answerOf(sent: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ['code', 'state', 'error', 'error_description', 'iss']) {
    const value = sent.get(name) ?? '';
    if (value !== '') query.set(name, value);
  }
  return query;
}

type Provider = Pick<Federation, 'settings' | 'client'> & { revision: number };

/** Throws `not_found` if this is not the configured key, and `credentials_unreadable`. */
async function readProvider(deps: OidcSignInDeps, key: string): Promise<Provider> {
  const { oidc: settings, oidcRevision: revision } = await readSettings(deps.db.kysely);
  if (!settings.enabled || settings.providerKey !== key) {
    throw new ApiError('not_found', 'Identity provider not found');
  }
  const clientSecret = readable(() => ({ secret: openClientSecret(deps, settings) }));
  if (clientSecret === undefined) throw secretUnusable();
  const { clientId, tokenAuth } = settings;
  const client = { clientId, clientSecret: clientSecret.secret, tokenAuth };
  return { settings, client, revision };
}

/** Strangers read this, so it does not say which address the secret belongs to. */
function secretUnusable(): ApiError {
  const message =
    "The client secret of this sign-in method can't be used: its address or the encryption key has changed. Ask an administrator to enter it again.";
  return new ApiError('credentials_unreadable', message);
}

/** Throws what `discover` throws. */
async function federationOf(deps: OidcSignInDeps, provider: Provider, origin: string): Promise<Federation> {
  return { ...provider, origin, metadata: await discover(deps, provider.settings, provider.revision) };
}

/** Ties a sign-in to the provider where it began. */
function federationMark({ metadata, client }: Federation): string {
  return JSON.stringify([metadata.issuer, client.clientId]);
}

/** Only our own pages: a crafted address must not send people elsewhere after they signed in. */
function ownAddresses(
  input: { callbackURL?: string; errorCallbackURL?: string },
  origin: string,
): { callbackURL: string; errorCallbackURL: string } {
  const callbackURL = ownAddress(input.callbackURL ?? '/', origin);
  const errorCallbackURL = ownAddress(input.errorCallbackURL ?? failurePage, origin);
  if (callbackURL !== undefined && errorCallbackURL !== undefined) return { callbackURL, errorCallbackURL };
  const message = 'Only addresses of this installation are allowed';
  const foreign = Object.entries({ callbackURL, errorCallbackURL }).filter(([, address]) => address === undefined);
  throw new ApiError('invalid_request', message, { details: foreign.map(([path]) => ({ path, message })) });
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}
