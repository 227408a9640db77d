import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';

/** Setup, sign-in and the signed-in user (contract.md section 3). No other route exists under /api/auth. */

export const setupBody = z.object({
  name: fields.personName,
  email: fields.email,
  password: fields.newPassword,
  claimToken: z.string().max(1024).optional(),
});

const accountSession = z.object({
  id: fields.id,
  current: z.boolean(),
  createdAt: fields.timestamp,
  userAgent: z.string().nullable(),
  address: z.string().nullable(),
});
export type AccountSession = z.infer<typeof accountSession>;

/** An identity is (issuer, subject) (contract.md section 3). */
const identity = z.object({ id: fields.id, issuer: z.string(), subject: z.string(), createdAt: fields.timestamp });
export type Identity = z.infer<typeof identity>;

/** Why single sign-on failed: `?error=` of the address that the browser is sent to. */
export const oidcRefusals = [
  /** The person or the provider refused. */
  'access_denied',
  'provider_error',
  'provider_unreachable',
  /** The token is not meant for this installation and this sign-in. */
  'invalid_token',
  /** The provider's clock and ours are more than two minutes apart. */
  'clocks_differ',
  /** The provider encrypts its ID tokens, which we cannot read. */
  'token_encrypted',
  /** Started in another browser, already used, or too old. */
  'state_mismatch',
  /** Switched off, or reconfigured since the sign-in started. */
  'sso_unavailable',
  'setup_required',
  'email_missing',
  'email_not_verified',
  'domain_not_allowed',
  'account_disabled',
  /** An account has this address, but linking by e-mail is off. */
  'account_not_linked',
  /** There is no account, and signing in does not create one. */
  'signup_disabled',
  /** The identity belongs to another account, so it cannot be linked. */
  'identity_taken',
  'sign_in_failed',
] as const;
export type OidcRefusal = (typeof oidcRefusals)[number];

/** Redirect target after single sign-on: a path of this installation, with or without its origin. */
const ownAddress = z
  .string()
  .max(2048)
  .regex(/^(?:https?:\/\/[^\s\\]+|\/(?![/\\])[^\s\\]*)$/i, 'A path of this installation, beginning with "/"');

/** Personal details in the prompt context of models: only those that the person allows. */
export const aboutMe = z.object({
  /** Whether models get the person's name. */
  name: z.boolean(),
  /** A language tag such as `de-AT` (BCP 47) in which the person wants answers. */
  language: z
    .string()
    .max(limits.localeMax)
    .regex(/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/, 'A language tag such as de or en-GB')
    .nullable(),
  /** A time zone such as `Europe/Berlin` (IANA); UTC when null. */
  timeZone: z
    .string()
    .max(limits.timeZoneMax)
    .refine(isTimeZone, { message: 'A time zone such as Europe/Berlin' })
    .nullable(),
});
export type AboutMe = z.infer<typeof aboutMe>;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '' && !/^[+-]/.test(name);
  } catch {
    return false;
  }
}

/** A person's own layer of the prompt context: instructions, and the facts about them that models get. */
const personalization = z.object({ instructions: fields.instructions, aboutMe });
export type Personalization = z.infer<typeof personalization>;

const authUser = z.looseObject({ id: fields.id, email: z.string(), name: z.string() });

export const accountEndpoints = {
  getSetup: endpoint({
    method: 'GET',
    path: '/api/setup',
    access: 'public',
    summary: 'Whether the first administrator still has to be created',
    response: z.object({ required: z.boolean(), claimRequired: z.boolean() }),
  }),
  postSetup: endpoint({
    method: 'POST',
    path: '/api/setup',
    access: 'public',
    summary: 'Creates the first administrator, once, and signs in',
    body: setupBody,
    response: z.object({ user: fields.user }),
    status: 201,
    errors: ['setup_claim_mismatch', 'setup_closed', 'email_taken'],
  }),
  postSignIn: endpoint({
    method: 'POST',
    path: '/api/auth/sign-in/email',
    access: 'public',
    summary: 'Signs in with e-mail address and password',
    body: z.object({
      email: z.string().max(320),
      password: z.string().max(1024),
      rememberMe: z.boolean().optional(),
      callbackURL: z.string().max(2048).optional(),
    }),
    response: z.looseObject({ user: authUser }),
    errors: ['invalid_credentials', 'account_disabled', 'rate_limited'],
  }),
  postSignOut: endpoint({
    method: 'POST',
    path: '/api/auth/sign-out',
    access: 'public',
    summary: 'Ends the session of the cookie',
    /** `url` is the page that signs out at the identity provider; the browser goes there. */
    response: z.looseObject({ success: z.boolean(), url: z.string().optional() }),
  }),
  getAuthSession: endpoint({
    method: 'GET',
    path: '/api/auth/get-session',
    access: 'public',
    summary: 'The session of the cookie and its user, or null',
    response: z.looseObject({ user: authUser }).nullable(),
    errors: ['account_disabled'],
  }),
  postChangePassword: endpoint({
    method: 'POST',
    path: '/api/auth/change-password',
    access: 'session-any-password',
    summary: 'Changes the password, clears mustChangePassword, ends all other sessions',
    body: z.object({
      currentPassword: z.string().max(1024),
      newPassword: fields.newPassword,
      revokeOtherSessions: z.boolean().optional(),
    }),
    response: z.looseObject({ user: authUser }),
    errors: ['invalid_credentials', 'rate_limited'],
  }),
  postSignInSocial: endpoint({
    method: 'POST',
    path: '/api/auth/sign-in/social',
    access: 'public',
    summary: 'Begins a single sign-on: returns the URL of the identity provider',
    body: z.object({
      provider: z.string().min(1).max(64),
      callbackURL: ownAddress.optional(),
      errorCallbackURL: ownAddress.optional(),
    }),
    response: z.looseObject({ url: z.string() }),
    errors: ['not_found', 'provider_unreachable', 'provider_error', 'blocked_destination', 'credentials_unreadable'],
  }),
  getOidcCallback: endpoint({
    method: 'GET',
    path: '/api/auth/oauth2/callback/:providerKey',
    access: 'public',
    summary: 'Redirect URI of the identity provider: redirects to callbackURL, or to errorCallbackURL with ?error=',
    params: z.object({ providerKey: z.string().max(64) }),
    response: 'file',
    others: { 302: 'empty' },
  }),
  getMe: endpoint({
    method: 'GET',
    path: '/api/me',
    access: 'session-any-password',
    summary: 'The signed-in user',
    response: z.object({ user: fields.user }),
  }),
  patchMe: endpoint({
    method: 'PATCH',
    path: '/api/me',
    access: 'session-any-password',
    summary: 'Renames the signed-in user',
    body: z.object({ name: fields.personName }),
    response: z.object({ user: fields.user }),
  }),
  getPersonalization: endpoint({
    method: 'GET',
    path: '/api/me/personalization',
    access: 'session',
    summary: "The signed-in user's instructions for models, and the facts about themselves that models get",
    response: z.object({ personalization }),
  }),
  patchPersonalization: endpoint({
    method: 'PATCH',
    path: '/api/me/personalization',
    access: 'session',
    summary: "Changes the signed-in user's instructions, or the facts that models get; omitted members stay",
    body: z
      .object({ instructions: fields.instructions.optional(), aboutMe: aboutMe.partial().optional() })
      .refine((body) => Object.values(body).some((value) => value !== undefined), {
        message: 'Give instructions or aboutMe',
        path: ['instructions'],
      }),
    response: z.object({ personalization }),
  }),
  getAdministrators: endpoint({
    method: 'GET',
    path: '/api/me/administrators',
    access: 'session',
    summary: 'Names of up to three administrators whom the user can ask, the earliest accounts first',
    response: z.object({ names: z.array(z.string()).max(limits.namedAdministratorsMax) }),
  }),
  getIdentities: endpoint({
    method: 'GET',
    path: '/api/me/identities',
    access: 'session',
    summary: "Lists the identities at identity providers that sign in to the user's account",
    response: z.object({ identities: z.array(identity) }),
  }),
  postIdentityLink: endpoint({
    method: 'POST',
    path: '/api/me/identities/link',
    access: 'session',
    summary:
      'Begins to link an identity to the account: returns the URL of the identity provider; needs a recent sign-in',
    body: z.object({ callbackURL: ownAddress.optional(), errorCallbackURL: ownAddress.optional() }).optional(),
    response: z.object({ url: z.string() }),
    errors: [
      'recent_sign_in_required',
      'not_found',
      'provider_unreachable',
      'provider_error',
      'blocked_destination',
      'credentials_unreadable',
    ],
  }),
  deleteIdentity: endpoint({
    method: 'DELETE',
    path: '/api/me/identities',
    access: 'session',
    summary: 'Removes an identity from the account, unless it is the last way to sign in',
    query: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found', 'last_sign_in_method'],
  }),
  getMySessions: endpoint({
    method: 'GET',
    path: '/api/me/sessions',
    access: 'session',
    summary: 'Lists the sessions of the user',
    response: z.object({ sessions: z.array(accountSession) }),
  }),
  deleteMySessions: endpoint({
    method: 'DELETE',
    path: '/api/me/sessions',
    access: 'session',
    summary: 'Ends one session, or all others',
    query: z
      .object({ id: fields.id.optional(), others: z.literal('1').optional() })
      .refine((query) => (query.id === undefined) !== (query.others === undefined), {
        message: 'Give either id or others=1',
        path: ['id'],
      }),
    response: z.object({ ok: z.literal(true), ended: z.number().int() }),
    errors: ['not_found'],
  }),
} as const;
