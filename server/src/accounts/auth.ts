import { randomUUIDv7 } from 'node:crypto';
import { limits } from '@homeport/contracts/limits';
import type { BetterAuthOptions } from 'better-auth';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Database } from '../db/pool.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { cookiePrefix, cookieRule, renewAfterSeconds, sessionSeconds } from './session-cookie.ts';
import { type SessionOrigin, storedUserAgent } from './sessions.ts';

/** What Better Auth does for us. Only these of its routes exist; every other path under /api/auth is the router's 404. */
export type Auth = {
  /** Checks the password and opens a session. */
  signIn(
    input: { email: string; password: string; rememberMe: boolean },
    from: SessionOrigin,
  ): Promise<{ token: string; user: { id: string }; body: unknown; cookies: string[] } | 'wrong' | 'disabled'>;
  /** Ends the session of a cookie header, and says how the browser forgets it. */
  signOut(cookie: string): Promise<{ body: unknown; cookies: string[] }>;
  /** The session of a cookie header and its user, or null. */
  getSession(cookie: string): Promise<unknown>;
};

export type AuthDeps = {
  config: Pick<Config, 'baseUrl' | 'authSecret'>;
  db: Pick<Database, 'kysely'>;
  log: Pick<Logger, 'warn'>;
};

/** Better Auth on our tables. The library is loaded at the first call: it costs 45 ms and 25 MB that an idle server does not need. */
export function createAuth(deps: AuthDeps): Auth {
  let loading: ReturnType<typeof loadAuth> | undefined;
  const load = () => {
    loading ??= loadAuth(deps).catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    async signIn(input, from) {
      const { auth, refusal } = await load();
      const headers = new Headers({ [addressHeader]: from.address, 'user-agent': storedUserAgent(from.userAgent) });
      try {
        const answer = await auth.api.signInEmail({ body: input, headers, returnHeaders: true });
        const { token, user } = answer.response;
        return { token, user, body: answer.response, cookies: answer.headers.getSetCookie() };
      } catch (error) {
        return refusal(error);
      }
    },
    async signOut(cookie) {
      const { auth } = await load();
      const answer = await auth.api.signOut({ headers: new Headers({ cookie }), returnHeaders: true });
      return { body: answer.response, cookies: answer.headers.getSetCookie() };
    },
    async getSession(cookie) {
      const { auth } = await load();
      // Renewal is the actor finder's, which every request passes.
      return auth.api.getSession({ headers: new Headers({ cookie }), query: { disableRefresh: true } });
    },
  };
}

/** Carries the client's address to Better Auth; ours, never the client's own header. */
export const addressHeader = 'x-client-ip';
const wrongCodes = new Set(['INVALID_EMAIL_OR_PASSWORD', 'INVALID_EMAIL', 'PASSWORD_TOO_LONG']);
const disabledCode = 'ACCOUNT_DISABLED';

async function loadAuth(deps: AuthDeps) {
  const [{ betterAuth }, { APIError }] = await Promise.all([import('better-auth'), import('better-auth/api')]);
  const disabled = () => new APIError('FORBIDDEN', { code: disabledCode });
  const auth = betterAuth({
    ...authOptions(deps, disabled),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: limits.passwordMin,
      maxPasswordLength: limits.passwordMax,
      password: { hash: hashPassword, verify: ({ hash, password }) => verifyPassword(hash, password) },
    },
  });
  const refusal = (error: unknown): 'wrong' | 'disabled' => {
    const code = error instanceof APIError ? error.body?.code : undefined;
    if (code === disabledCode) return 'disabled';
    if (code !== undefined && wrongCodes.has(code)) return 'wrong';
    throw error;
  };
  return { auth, refusal };
}

/** Better Auth on our tables and with our cookie; `disabled` makes the error that refuses a disabled account its session. */
export function authOptions(deps: AuthDeps, disabled: () => Error) {
  return {
    baseURL: deps.config.baseUrl ?? 'http://localhost',
    basePath: '/api/auth',
    // Both: a list that is not given here would be taken from the environment instead.
    secret: deps.config.authSecret,
    secrets: [{ version: 1, value: deps.config.authSecret }],
    database: { db: deps.db.kysely, type: 'postgres', transaction: true },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    logger: {
      level: 'error',
      disableColors: true,
      log: (_level, message) => deps.log.warn({ source: 'better-auth' }, message),
    },
    session: {
      modelName: 'sessions',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      expiresIn: sessionSeconds,
      updateAge: renewAfterSeconds,
      cookieCache: { enabled: false },
    },
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
      additionalFields: {
        role: { type: 'string', input: false },
        enabled: { type: 'boolean', input: false },
        mustChangePassword: { type: 'boolean', input: false, fieldName: 'must_change_password' },
      },
    },
    account: {
      modelName: 'credentials',
      fields: {
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      encryptOAuthTokens: true,
    },
    verification: {
      modelName: 'verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    databaseHooks: {
      session: {
        create: {
          // Reached only after the right password or a verified id token, so nobody else learns that an account is disabled.
          before: async (session) => {
            const user = await deps.db.kysely
              .selectFrom('users')
              .select('enabled')
              .where('id', '=', session.userId)
              .executeTakeFirst();
            if (user?.enabled !== true) throw disabled();
          },
        },
      },
    },
    advanced: {
      cookiePrefix,
      useSecureCookies: cookieRule(deps.config).secureCookie,
      // Only our own handlers call it, and the router has compared Origin before them.
      disableCSRFCheck: true,
      database: { generateId: () => randomUUIDv7(), validateSchema: false },
      ipAddress: { ipAddressHeaders: [addressHeader], ipv6Subnet: 128 },
    },
  } satisfies BetterAuthOptions;
}
