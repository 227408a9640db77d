import { randomBytes } from 'node:crypto';
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
import { clearedCookie, cookieRule, readStateCookie, sessionCookies, stateCookie } from '../session-cookie.ts';
import type { SessionOrigin } from '../sessions.ts';
import { openOidcSession } from './accounts.ts';
import { authorizationUrl, type Federation, redeemAnswer } from './protocol.ts';
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

/**
 * Begins a sign-in: the provider's address, and the cookie that ties it to this browser. Throws `invalid_request` for a
 * foreign address, `not_found` for an unknown provider, `credentials_unreadable`, and what `discover` throws; a
 * provider that was down is asked again each time.
 */
export async function beginOidcSignIn(
  deps: OidcSignInDeps,
  input: { provider: string; callbackURL?: string; errorCallbackURL?: string },
  request: BrowserRequest,
): Promise<{ url: string; cookies: string[] }> {
  const addresses = ownAddresses(input, request.origin);
  const federation = await federationOf(deps, await readProvider(deps, input.provider), request.origin);
  const challenge = { state: secret(), nonce: secret(), codeVerifier: secret() };
  const url = await authorizationUrl(deps, federation, challenge);
  const { nonce, codeVerifier } = challenge;
  const begun: BegunSignIn = { ...addresses, nonce, codeVerifier, federation: federationMark(federation) };
  await insertState(deps.db.kysely, challenge.state, begun, deps.clock.now());
  return { url: url.href, cookies: [stateCookie(cookieRule(deps.config), challenge.state, stateSeconds)] };
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
  const isThisBrowser = state !== '' && readStateCookie(rule, request.cookie) === state;
  const begun = isThisBrowser ? await takeState(deps.db.kysely, state, deps.clock.now()) : undefined;
  const forgotten = isThisBrowser ? [clearedCookie(rule, 'state')] : [];
  try {
    const provider = await readProvider(deps, input.providerKey);
    if (begun === undefined) throw new Refusal('state_mismatch');
    const federation = await federationOf(deps, provider, request.origin);
    // One provider's code is never sent to another (RFC 9700, section 4.4).
    if (begun.federation !== federationMark(federation)) throw new Refusal('sso_unavailable', 'Another provider');
    const { claims } = await redeemAnswer(deps, federation, answer, { ...begun, state });
    const source = { address: request.from.address, requestId: request.requestId };
    const token = await openOidcSession(deps, federation, claims, request.from, source);
    const location = ownAddress(begun.callbackURL, request.origin) ?? '/';
    return { location, cookies: [...sessionCookies(rule, token, true), ...forgotten] };
  } catch (error) {
    const refusal = toRefusal(error);
    const { code } = refusal;
    await recordRefusal(deps, refusal, begun !== undefined, request);
    const page = ownAddress(begun?.errorCallbackURL ?? failurePage, request.origin) ?? failurePage;
    return { location: withError(page, request.origin, code), cookies: forgotten };
  }
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
