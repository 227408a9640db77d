import type { accountEndpoints } from '@homeport/contracts/accounts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import { type Handler, Reply, type RequestFacts, sourceOf } from '../http/handler.ts';
import { authSession, authUser } from './auth-answers.ts';
import { readAdministratorNames } from './display-names.ts';
import {
  chooseAccountCookie,
  clearedCookie,
  cookieRule,
  readSessionCookie,
  sessionCookie,
  sessionCookies,
} from './session-cookie.ts';
import { endSessions, findSessionAndUser, listSessions, type SessionOrigin } from './sessions.ts';
import { completeSetup, getSetupState } from './setup.ts';
import { changePassword, signIn, signOut } from './sign-in.ts';
import { changePersonalization } from './user-administration.ts';
import { readPersonalization, renameUser } from './users.ts';

/** The dependencies of the account endpoints. */
type AccountsDeps = Pick<Deps, 'db' | 'clock' | 'findActor'> & {
  config: Pick<Config, 'baseUrl' | 'authSecret' | 'setupClaimToken'>;
};
type AccountHandler<N extends keyof typeof accountEndpoints> = Handler<AccountsDeps, (typeof accountEndpoints)[N]>;

/** GET /api/setup */
export const getSetup: AccountHandler<'getSetup'> = (deps) => getSetupState(deps);

/** POST /api/setup */
export const postSetup: AccountHandler<'postSetup'> = async (deps, { body, request }) => {
  const claimHeader = request.headers.get('x-setup-claim-token');
  const { user, token } = await completeSetup(deps, body, claimHeader, originOf(request), request.id);
  return withCookies({ user }, [sessionCookie(cookieRule(deps.config), token)]);
};

/** POST /api/auth/sign-in/email */
export const postSignIn: AccountHandler<'postSignIn'> = async (deps, { body, request }) => {
  const { token, user, remembered } = await signIn(deps, body, attemptOf(request));
  return withCookies({ redirect: false, token, user }, sessionCookies(cookieRule(deps.config), token, remembered));
};

/** POST /api/auth/sign-out; the session is gone before the response. */
export const postSignOut: AccountHandler<'postSignOut'> = async (deps, { request }) => {
  const rule = cookieRule(deps.config);
  const cookie = readSessionCookie(rule, request.headers.get('cookie'));
  const from = { address: request.address, requestId: request.id };
  const { byOidc, url } = cookie === undefined ? { byOidc: false } : await signOut(deps, cookie.token, from);
  return withCookies({ success: true, ...(url === undefined ? {} : { url }) }, [
    clearedCookie(rule, 'session_token'),
    clearedCookie(rule, 'dont_remember'),
    ...(byOidc ? [chooseAccountCookie(rule)] : []),
  ]);
};

/** GET /api/auth/get-session; null without a valid session. */
export const getAuthSession: AccountHandler<'getAuthSession'> = async (deps, { request }) => {
  const header = request.headers.get('cookie');
  const found = await deps.findActor(header, false);
  if (found === undefined) return null;
  if (!found.actor.enabled) throw new ApiError('account_disabled', 'This account is disabled');
  const cookie = readSessionCookie(cookieRule(deps.config), header);
  const known = cookie === undefined ? undefined : await findSessionAndUser(deps.db.kysely, cookie.token);
  const body = known === undefined ? null : { session: authSession(known.session), user: authUser(known.user) };
  return withCookies(body, found.setCookie === undefined ? [] : [found.setCookie]);
};

/** POST /api/auth/change-password */
export const postChangePassword: AccountHandler<'postChangePassword'> = async (deps, { actor, body, request }) => {
  const { user, token } = await changePassword(deps, actor, body, attemptOf(request));
  return withCookies({ token: null, user }, [sessionCookie(cookieRule(deps.config), token)]);
};

/** GET /api/me */
export const getMe: AccountHandler<'getMe'> = (_deps, { actor }) => {
  // By name: an actor has more than its user may see.
  const { id, name, email, role, enabled, mustChangePassword, providerSettingsEnabled, mcpSettingsEnabled } = actor;
  return { user: { id, name, email, role, enabled, mustChangePassword, providerSettingsEnabled, mcpSettingsEnabled } };
};

/** PATCH /api/me */
export const patchMe: AccountHandler<'patchMe'> = async (deps, { actor, body }) => ({
  user: await renameUser(deps.db.kysely, actor.id, body.name),
});

/** GET /api/me/administrators */
export const getAdministrators: AccountHandler<'getAdministrators'> = async (deps) => ({
  names: await readAdministratorNames(deps.db.kysely),
});

/** GET /api/me/personalization */
export const getPersonalization: AccountHandler<'getPersonalization'> = async (deps, { actor }) => ({
  personalization: await readPersonalization(deps.db.kysely, actor.id),
});

/** PATCH /api/me/personalization */
export const patchPersonalization: AccountHandler<'patchPersonalization'> = async (deps, input) => ({
  personalization: await changePersonalization(deps, input.actor.id, input.body, sourceOf(input)),
});

/** GET /api/me/sessions */
export const getMySessions: AccountHandler<'getMySessions'> = async (deps, { actor }) => ({
  sessions: await listSessions(deps, actor),
});

/** DELETE /api/me/sessions?id= or ?others=1 */
export const deleteMySessions: AccountHandler<'deleteMySessions'> = async (deps, input) => {
  const { id } = input.query;
  return {
    ok: true,
    ended: await endSessions(deps, input.actor, id === undefined ? 'others' : { id }, sourceOf(input)),
  };
};

function originOf(request: RequestFacts): SessionOrigin {
  return { address: request.address, userAgent: request.headers.get('user-agent') };
}

function attemptOf(request: RequestFacts) {
  return { from: originOf(request), requestId: request.id, signal: request.signal };
}

function withCookies(body: unknown, cookies: readonly string[]): Reply {
  return new Reply(body, { headers: cookies.map((cookie) => ['set-cookie', cookie]) });
}
