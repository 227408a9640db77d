import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { inTransaction } from '../db/pool.ts';
import type { Auth } from './auth.ts';
import { findPasswordHash, findPasswordHashByEmail, updatePassword } from './credentials.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { deleteSessionsOf, endSessionOfToken, insertSession, type SessionOrigin, trimSessions } from './sessions.ts';
import { type SignInLimitDeps, withinSignInLimit } from './sign-in-limit.ts';
import { lockUser, setMustChangePassword } from './users.ts';

type SignInDeps = SignInLimitDeps & { auth: Auth };

/**
 * Opens a session for an e-mail address and its password; answers what Better Auth does. Throws `invalid_credentials`, the same and
 * after about the same time for an unknown address, `account_disabled` after the right password only, and `rate_limited`.
 */
export async function signIn(
  deps: SignInDeps,
  input: { email: string; password: string; rememberMe?: boolean | undefined },
  from: SessionOrigin,
  signal: AbortSignal,
): Promise<{ body: unknown; cookies: string[] }> {
  const email = input.email.trim().toLowerCase();
  const { answer, hash } = await withinSignInLimit(deps, { address: from.address, email, signal }, async () => {
    const hash = await findPasswordHashByEmail(deps.db.kysely, email);
    const credentials = { email, password: input.password, rememberMe: input.rememberMe ?? true };
    const answer = await deps.auth.signIn(credentials, from);
    return { right: answer !== 'wrong', answer, hash };
  });
  if (answer === 'wrong') throw wrongPassword();
  if (answer === 'disabled') throw new ApiError('account_disabled', 'This account is disabled');
  // A password change meanwhile ends all sessions, but only those that were there: this one came after it.
  if ((await findPasswordHashByEmail(deps.db.kysely, email)) !== hash) {
    await endSessionOfToken(deps.db.kysely, answer.token);
    throw wrongPassword();
  }
  await trimSessions(deps, answer.user.id);
  return { body: answer.body, cookies: answer.cookies };
}

/**
 * Changes the password, clears mustChangePassword, ends every session and opens a new one for the caller, in one transaction: a
 * stolen copy of the present cookie dies with the others. Throws `invalid_credentials`, `invalid_request` and `rate_limited`.
 */
export async function changePassword(
  deps: SignInLimitDeps,
  caller: { id: string; email: string },
  input: { currentPassword: string; newPassword: string },
  from: SessionOrigin,
  signal: AbortSignal,
): Promise<{ user: User; token: string }> {
  const { db } = deps;
  const who = { address: from.address, email: caller.email, signal };
  const { right, stored } = await withinSignInLimit(deps, who, async () => {
    const stored = await findPasswordHash(db.kysely, caller.id);
    const right = stored !== undefined && (await verifyPassword(stored, input.currentPassword));
    return { right, stored };
  });
  if (!right) throw wrongPassword();
  if (input.newPassword === input.currentPassword) throw samePassword();
  const hash = await hashPassword(input.newPassword);
  return inTransaction(db, async (transaction) => {
    await lockUser(transaction, caller.id);
    if ((await findPasswordHash(transaction, caller.id)) !== stored) throw wrongPassword();
    await updatePassword(transaction, caller.id, hash);
    await deleteSessionsOf(transaction, caller.id);
    const user = await setMustChangePassword(transaction, caller.id, false);
    const { token } = await insertSession(transaction, caller.id, from, deps.clock.now());
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
