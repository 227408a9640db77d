import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '@homeport/contracts/errors';
import { comparableEmail } from '@homeport/contracts/text/email';
import { findPasswordHash } from '../accounts/credentials.ts';
import { verifyPassword } from '../accounts/passwords.ts';
import { deleteSessionsOf } from '../accounts/sessions.ts';
import { type SignInLimitDeps, withinSignInLimit } from '../accounts/sign-in-limit.ts';
import { deleteTokensOf } from '../accounts/tokens/tokens.ts';
import {
  findOtherAdministrator,
  lockAdministrators,
  lockUser,
  removeUser,
  retireUser,
  setUserEnabled,
} from '../accounts/users.ts';
import { giveAwayShared } from '../assistants/sharing.ts';
import { type AuditSource, recordEvent, recordFailedSignIn } from '../audit/audit.ts';
import { deleteCatalogueOf } from '../catalogue/providers.ts';
import { endSharesWith } from '../catalogue/sharing.ts';
import { deleteSomeChats, takeAllChatsOut } from '../conversations/imported-chats.ts';
import { inTransaction } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import { deleteAbandoned, leaveEveryProject } from '../projects/projects.ts';
import { endSharesOf } from '../sharing/shares.ts';
import { deleteOwnWebSearch } from '../web-search/settings.ts';

/** Deleting accounts (contract.md section 11). Shared items stay with their other members. */

type Needs = Pick<Platform, 'db' | 'config' | 'log'> & { accountDisabled(userId: string): Promise<void> };

/** Conversations deleted in one transaction: bounded work for one statement. */
const atOnce = 20;

/**
 * Deletes an account: first disables it, then deletes its data in batches, and finally the account itself. A repeated
 * call after a crash continues. Throws `not_found` and `last_admin`.
 */
export async function deleteAccount(
  needs: Needs,
  userId: string,
  data: 'keep' | 'delete',
  by: AuditSource,
): Promise<void> {
  const { db } = needs;
  const user = await inTransaction(db, async (trx) => {
    await lockAdministrators(trx);
    return lockUser(trx, userId);
  });
  if (user.enabled) await setUserEnabled({ db }, userId, false);
  await inTransaction(db, async (trx) => {
    await deleteSessionsOf(trx, userId);
    await deleteTokensOf(trx, userId);
  });
  await needs.accountDisabled(userId);
  if (data === 'delete') {
    while ((await inTransaction(db, (trx) => deleteSomeChats(trx, userId, atOnce))) > 0);
    // Before the account is deleted: without it, the deletion could not be repeated after a crash.
    await removeHome(needs, userId);
  }
  await inTransaction(db, async (trx) => {
    await lockAdministrators(trx);
    await lockUser(trx, userId);
    await takeAllChatsOut(trx, userId);
    const abandoned = await leaveEveryProject(trx, userId);
    await giveAwayShared(trx, userId, await findOtherAdministrator(trx, userId));
    const details = { email: user.email, data };
    await recordEvent(trx, by, { action: 'user.deleted', targetType: 'user', targetId: userId, details });
    await endSharesWith(trx, userId);
    await deleteOwnWebSearch(trx, userId);
    await endSharesOf(trx, userId);
    if (data === 'keep') return retireUser(trx, userId);
    await deleteAbandoned(trx, abandoned);
    await deleteCatalogueOf(trx, userId);
    await removeUser(trx, userId);
  });
}

/**
 * The account's own word: its password, or its address where there is none. Throws `invalid_credentials`,
 * `rate_limited`.
 */
export async function assertOwnWord(
  deps: SignInLimitDeps,
  caller: { id: string; email: string },
  given: { password?: string; email?: string },
  from: { address: string; requestId: string; signal: AbortSignal },
): Promise<void> {
  const { address, signal, requestId } = from;
  const { word, right } = await withinSignInLimit(deps, { address, email: caller.email, signal }, async () => {
    const hash = await findPasswordHash(deps.db.kysely, caller.id);
    if (hash === undefined) return { word: 'address', right: comparableEmail(given.email ?? '') === caller.email };
    return { word: 'password', right: await verifyPassword(hash, given.password ?? '') };
  });
  if (right) return;
  await recordFailedSignIn(deps.db.kysely, { actorId: caller.id, address, requestId }, caller.id);
  throw new ApiError('invalid_credentials', `The ${word} is wrong. Nothing was deleted.`);
}

/**
 * The home of a workspace on this machine. Homes in containers are removed with their volumes, by the operator of the
 * containers.
 */
async function removeHome({ config, log }: Needs, userId: string): Promise<void> {
  if (!/^[\w-]{1,128}$/.test(userId)) return;
  await rm(join(config.dataDir, 'workspaces', userId), { recursive: true, force: true }).catch((error: unknown) => {
    log.warn({ cause: error, user: userId }, 'failed to delete the home folder of a deleted account');
  });
}
