import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { recordEvent, recordFailedSignIn } from '../audit.ts';
import { inTransaction } from '../db/pool.ts';
import type { Auth } from './auth.ts';
import { findPasswordByEmail, findPasswordHash, updatePassword } from './credentials.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { deleteSessionsOf, endSessionOfToken, insertSession, type SessionOrigin, trimSessions } from './sessions.ts';
import { type SignInLimitDeps, withinSignInLimit } from './sign-in-limit.ts';
import { lockUser, setMustChangePassword } from './users.ts';

type SignInDeps = SignInLimitDeps & { auth: Auth };

/** A request's part of who acts: the rest is told by whose password it is. */
type Attempt = { from: SessionOrigin; requestId: string; signal: AbortSignal };

/**
 * Opens a session for an e-mail address and its password; answers what Better Auth does. Throws `invalid_credentials`, the same and
 * after about the same time for an unknown address, `account_disabled` after the right password only, and `rate_limited`.
 */
export async function signIn(
  deps: SignInDeps,
  input: { email: string; password: string; rememberMe?: boolean | undefined },
  { from, requestId, signal }: Attempt,
): Promise<{ body: unknown; cookies: string[] }> {
  const { kysely } = deps.db;
  const email = input.email.trim().toLowerCase();
  const { answer, found } = await withinSignInLimit(deps, { address: from.address, email, signal }, async () => {
    const found = await findPasswordByEmail(kysely, email);
    const credentials = { email, password: input.password, rememberMe: input.rememberMe ?? true };
    const answer = await deps.auth.signIn(credentials, from);
    return { right: answer !== 'wrong', answer, found };
  });
  const source = { actorId: found?.userId ?? null, address: from.address, requestId };
  if (typeof answer === 'string') {
    await recordFailedSignIn(kysely, { ...source, actorId: null }, found?.userId);
    throw answer === 'wrong' ? wrongPassword() : new ApiError('account_disabled', 'This account is disabled');
  }
  // A password change meanwhile ends all sessions, but only those that were there: this one came after it.
  if ((await findPasswordByEmail(kysely, email))?.hash !== found?.hash) {
    await endSessionOfToken(kysely, answer.token);
    throw wrongPassword();
  }
  await trimSessions(deps, answer.user.id);
  await recordEvent(kysely, source, { action: 'session.signed_in', details: { method: 'password' } });
  return { body: answer.body, cookies: answer.cookies };
}

/** Ends the session of a token; none is no error. */
export async function signOut(
  deps: Pick<SignInDeps, 'db'>,
  token: string,
  from: { address: string; requestId: string },
): Promise<void> {
  await inTransaction(deps.db, async (transaction) => {
    const session = await endSessionOfToken(transaction, token);
    if (session === undefined) return;
    const event = { action: 'session.signed_out', targetType: 'session', targetId: session.id } as const;
    await recordEvent(transaction, { actorId: session.user_id, ...from }, event);
  });
}

/**
 * Changes the password, clears mustChangePassword, ends every session and opens a new one for the caller, in one transaction: a
 * stolen copy of the present cookie dies with the others. Throws `invalid_credentials`, `invalid_request` and `rate_limited`.
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
  const message = 'Choose another password than the present one';
  return new ApiError('invalid_request', message, { details: [{ path: 'newPassword', message }] });
}
