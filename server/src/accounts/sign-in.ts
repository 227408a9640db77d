import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { comparableEmail } from '@homeport/contracts/text/email';
import { recordEvent, recordFailedSignIn } from '../audit/audit.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import { readSettings } from '../settings/settings.ts';
import { authUser } from './auth-answers.ts';
import { findPasswordByEmail, findPasswordHash, updatePassword } from './credentials.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { deleteSessionsOf, endSessionOfToken, insertSession, type SessionOrigin, trimSessions } from './sessions.ts';
import { type SignInLimitDeps, withinSignInLimit } from './sign-in-limit.ts';
import { holdUser, lockUser, setMustChangePassword } from './users.ts';

/** The request's part of the audit source; the rest follows from whose password it is. */
type Attempt = { from: SessionOrigin; requestId: string; signal: AbortSignal };

type SignedIn = { token: string; remembered: boolean; user: ReturnType<typeof authUser> };

/**
 * Opens a session for an e-mail address and its password. Throws `invalid_credentials`, the same and after about the
 * same time for an unknown address; `account_disabled`, only after the right password; and `rate_limited`.
 */
export async function signIn(
  deps: SignInLimitDeps,
  input: { email: string; password: string; rememberMe?: boolean },
  { from, requestId, signal }: Attempt,
): Promise<SignedIn> {
  const { kysely } = deps.db;
  const email = comparableEmail(input.email);
  const { right, found } = await withinSignInLimit(deps, { address: from.address, email, signal }, async () => {
    const found = await findPasswordByEmail(kysely, email);
    return { right: await verifyPassword(found?.hash ?? '', input.password), found };
  });
  const source = { actorId: null, address: from.address, requestId };
  if (!right || found === undefined) {
    await recordFailedSignIn(kysely, source, found?.userId);
    throw wrongPassword();
  }
  const remembered = input.rememberMe ?? true;
  const opened = await inTransaction(deps.db, (transaction) =>
    openSession(transaction, found, deps.clock.now(), { from, requestId, remembered }),
  );
  if (opened === 'changed') throw wrongPassword();
  if (opened === 'disabled') {
    await recordFailedSignIn(kysely, source, found.userId);
    throw new ApiError('account_disabled', 'This account is disabled');
  }
  return { ...opened, remembered };
}

/** An earlier password change or disabling is seen; a simultaneous one waits and then ends this session too. */
async function openSession(
  transaction: Queryable,
  { userId, hash }: { userId: string; hash: string | undefined },
  now: number,
  { from, requestId, remembered }: { from: SessionOrigin; requestId: string; remembered: boolean },
): Promise<Omit<SignedIn, 'remembered'> | 'changed' | 'disabled'> {
  const user = await holdUser(transaction, userId);
  if (user === undefined || (await findPasswordHash(transaction, userId)) !== hash) return 'changed';
  if (!user.enabled) return 'disabled';
  const { token } = await insertSession(transaction, userId, from, now, { remembered });
  await trimSessions(transaction, userId, now);
  const source = { actorId: userId, address: from.address, requestId };
  await recordEvent(transaction, source, { action: 'session.signed_in', details: { method: 'password' } });
  return { token, user: authUser(user) };
}

/**
 * Ends the session of a token; an unknown token is not an error. Resolves with whether an identity provider opened it,
 * and the address that signs out there, if the settings want that.
 */
export async function signOut(
  deps: Pick<SignInLimitDeps, 'db'>,
  token: string,
  from: { address: string; requestId: string },
): Promise<{ byOidc: boolean; url?: string }> {
  return inTransaction(deps.db, async (transaction) => {
    const session = await endSessionOfToken(transaction, token);
    if (session === undefined) return { byOidc: false };
    const event = { action: 'session.signed_out', targetType: 'session', targetId: session.id } as const;
    await recordEvent(transaction, { actorId: session.user_id, ...from }, event);
    const { by_oidc: byOidc, sign_out_url: url } = session;
    if (url === null) return { byOidc };
    const { oidc } = await readSettings(transaction);
    return oidc.enabled && oidc.endSession ? { byOidc, url } : { byOidc };
  });
}

/**
 * Changes the password, clears mustChangePassword, ends every session and opens a new one for the caller, in one
 * transaction: a stolen copy of the current cookie stops working too. Throws `invalid_credentials`, `invalid_request`
 * and `rate_limited`.
 */
export async function changePassword(
  deps: SignInLimitDeps,
  caller: { id: string; email: string },
  input: { currentPassword: string; newPassword: string },
  { from, requestId, signal }: Attempt,
): Promise<{ user: User; token: string }> {
  const { db } = deps;
  const who = { address: from.address, email: caller.email, signal };
  const source = { actorId: caller.id, address: from.address, requestId };
  const { right, stored } = await withinSignInLimit(deps, who, async () => {
    const stored = await findPasswordHash(db.kysely, caller.id);
    const right = stored !== undefined && (await verifyPassword(stored, input.currentPassword));
    return { right, stored };
  });
  if (!right) {
    await recordFailedSignIn(db.kysely, source, caller.id);
    throw wrongPassword();
  }
  if (input.newPassword === input.currentPassword) throw samePassword();
  const hash = await hashPassword(input.newPassword);
  return inTransaction(db, async (transaction) => {
    await lockUser(transaction, caller.id);
    if ((await findPasswordHash(transaction, caller.id)) !== stored) throw wrongPassword();
    await updatePassword(transaction, caller.id, hash);
    await deleteSessionsOf(transaction, caller.id);
    const user = await setMustChangePassword(transaction, caller.id, false);
    const { token } = await insertSession(transaction, caller.id, from, deps.clock.now());
    await recordEvent(transaction, source, { action: 'password.changed', targetType: 'user', targetId: caller.id });
    return { user, token };
  });
}

function wrongPassword(): ApiError {
  return new ApiError('invalid_credentials', 'Wrong e-mail address or password');
}

function samePassword(): ApiError {
  const message = 'Choose a password that differs from your current one';
  return new ApiError('invalid_request', message, { details: [{ path: 'newPassword', message }] });
}
