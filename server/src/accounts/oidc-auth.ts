import type { OidcRefusal } from '@homeport/contracts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import type { BetterAuthPlugin } from 'better-auth';
import type { OidcDeps } from '../settings/oidc-provider.ts';
import { type AuthDeps, authOptions } from './auth.ts';
import { authorizationUrl, type Federation, redeemCode } from './authorization-code.ts';
import { type Claims, completeClaims, IdTokenError, verifyIdToken } from './id-token.ts';
import { findFacts, identityOf, oidcProviderId } from './oidc-identities.ts';
import { claimedEmail, type Decision, decide } from './oidc-policy.ts';

export type OidcAuthDeps = AuthDeps & OidcDeps;

/** What became of a callback: filled in by the provider below while Better Auth runs it. */
export type Outcome = { decision?: Decision; refusal?: OidcRefusal; createdUserId?: string };

type Tokens = { idToken: string; accessToken: string | undefined };

/**
 * Better Auth for one request of a single sign-on: it keeps state, PKCE verifier and nonce, and writes account, identity and
 * session. What the network says comes through the guard; id-token.ts says whether it is true, oidc-policy.ts what follows.
 * Without a federation a callback ends at the address that its state names.
 */
export async function createOidcAuth(deps: OidcAuthDeps, federation: Federation | undefined, outcome: Outcome) {
  const [{ betterAuth }, { APIError, getOAuthState }] = await Promise.all([
    import('better-auth'),
    import('better-auth/api'),
  ]);
  const options = authOptions(deps, () => new APIError('FORBIDDEN', { code: 'account_disabled' }));
  const providers = federation === undefined ? [] : [createProvider(deps, federation, outcome, getOAuthState)];
  const plugin: BetterAuthPlugin = { id: 'homeport-oidc', init: () => ({ context: { socialProviders: providers } }) };
  return betterAuth({
    ...options,
    onAPIError: { errorURL: '/sign-in' },
    user: {
      ...options.user,
      // Better Auth looks again whose identity and address these are: between its look and ours an account may have come.
      validateUserInfo: async ({ source }) =>
        source.action === outcome.decision?.action ? undefined : { error: 'sign_in_failed' },
    },
    account: {
      ...options.account,
      accountLinking: {
        enabled: true,
        requireLocalEmailVerified: false,
        disableImplicitLinking: federation?.settings.linkByEmail !== true,
      },
    },
    databaseHooks: {
      ...options.databaseHooks,
      user: {
        create: {
          after: async (user) => {
            outcome.createdUserId = user.id;
          },
        },
      },
    },
    plugins: [plugin],
  });
}

/** Ties a sign-in to the provider that it began at: a code of one never goes to another (RFC 9700, section 4.4). */
export function federationMark({ metadata, client }: Federation): string {
  return JSON.stringify([metadata.issuer, client.clientId]);
}

function createProvider(
  deps: OidcAuthDeps,
  federation: Federation,
  outcome: Outcome,
  getState: () => Promise<unknown>,
) {
  const { settings, metadata } = federation;
  let tokens: Tokens | undefined;
  /** Keeps the reason of what fails: Better Auth's own codes say less. */
  const refusing = async <T>(work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      outcome.refusal ??= refusalOf(error);
      deps.log.warn({ refusal: outcome.refusal, cause: error }, 'single sign-on failed');
      return null;
    }
  };
  return {
    id: oidcProviderId,
    name: settings.label,
    issuer: metadata.issuer,
    requiresIdTokenNonce: true,
    options: { disableSignUp: !settings.autoProvision },
    accountSubject: ({ profile }: { profile: { identity?: string } }) => profile.identity ?? '',
    createAuthorizationURL: (data: { state: string; codeVerifier: string; idTokenNonce?: string | undefined }) =>
      authorizationUrl(federation, { ...data, nonce: data.idTokenNonce ?? '' }),
    validateAuthorizationCode: ({ code, codeVerifier }: { code: string; codeVerifier?: string | undefined }) =>
      refusing(async () => {
        if (!hasMark(await getState(), federationMark(federation))) throw new ApiError('not_found', 'Another provider');
        tokens = await redeemCode(deps, federation, { code, codeVerifier: codeVerifier ?? '' });
        // None of the tokens: Better Auth would store them, and nobody needs them again.
        return {};
      }),
    getUserInfo: ({ expectedIdTokenNonce: nonce }: { expectedIdTokenNonce?: string | undefined }) =>
      refusing(async () => {
        const claims = await readClaims(deps, federation, tokens, nonce);
        const identity = identityOf(metadata.issuer, claims.subject);
        const decision = decide(claims, settings, await findFacts(deps.db.kysely, identity, claimedEmail(claims)));
        outcome.decision = decision;
        if (decision.action !== 'refuse') return { user: personOf(decision), data: { identity } };
        outcome.refusal = decision.code;
        return null;
      }),
  };
}

async function readClaims(
  deps: OidcAuthDeps,
  { metadata, client }: Federation,
  tokens: Tokens | undefined,
  nonce: string | undefined,
): Promise<Claims> {
  if (tokens === undefined || nonce === undefined || nonce === '') throw new IdTokenError('no token or no nonce');
  const claims = await verifyIdToken(deps, metadata, { clientId: client.clientId, nonce }, tokens.idToken);
  return completeClaims(deps, metadata, claims, tokens.accessToken);
}

/** What Better Auth writes or looks for. A known account keeps its own address, whatever the provider says by now. */
function personOf(decision: Exclude<Decision, { action: 'refuse' }>) {
  if (decision.action === 'create-user') {
    return { email: decision.email, name: decision.name, emailVerified: true };
  }
  return { email: decision.user.email, emailVerified: decision.action === 'link-account' };
}

function hasMark(state: unknown, mark: string): boolean {
  return typeof state === 'object' && state !== null && 'federation' in state && state.federation === mark;
}

function refusalOf(error: unknown): OidcRefusal {
  if (error instanceof IdTokenError) return 'invalid_token';
  return error instanceof ApiError ? refusalOfError(error) : 'sign_in_failed';
}

/** What the person is told of a failure that verbs throw. */
export function refusalOfError(error: ApiError): OidcRefusal {
  if (error.code === 'provider_unreachable' || error.code === 'blocked_destination') return 'provider_unreachable';
  if (error.code === 'provider_error') return 'provider_error';
  return error.code === 'not_found' || error.code === 'credentials_unreadable' ? 'sso_unavailable' : 'sign_in_failed';
}
