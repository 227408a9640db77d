import type { setupBody } from '@homeport/contracts/accounts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { sql } from 'kysely';
import type { z } from 'zod';
import { recordEvent } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { Clock } from '../platform/clock.ts';
import { KeyedMutex } from '../platform/concurrency/keyed-mutex.ts';
import { equalSecret } from '../secrets/equal-secret.ts';
import { insertPassword } from './credentials.ts';
import { hashPassword } from './passwords.ts';
import { insertSession, type SessionOrigin } from './sessions.ts';
import { insertUser } from './users.ts';

export type SetupDeps = { config: Pick<Config, 'setupClaimToken'>; db: Pick<Database, 'kysely'>; clock: Clock };
export type SetupState = { required: boolean; claimRequired: boolean };
type SetupInput = z.output<typeof setupBody>;

const turns = new KeyedMutex<SetupDeps['db']>();

/** Whether the first administrator still has to be created. */
export async function getSetupState(deps: SetupDeps): Promise<SetupState> {
  return {
    required: await isSetupOpen(deps.db.kysely),
    claimRequired: deps.config.setupClaimToken !== undefined,
  };
}

/**
 * Creates the first administrator and a session, and closes setup for good, in one transaction behind the row of
 * `installation`. Throws `setup_closed` before `setup_claim_mismatch`: GET /api/setup reveals the former anyway.
 */
export async function completeSetup(
  deps: SetupDeps,
  input: SetupInput,
  claimHeader: string | null,
  from: SessionOrigin,
  requestId: string,
): Promise<{ user: User; token: string }> {
  if (!(await isSetupOpen(deps.db.kysely))) throw setupClosed();
  assertClaim(deps.config.setupClaimToken, [input.claimToken, claimHeader ?? undefined]);
  return turns.take(deps.db, async () => {
    // Of a hundred simultaneous setups, latecomers should not cost a hash each.
    if (!(await isSetupOpen(deps.db.kysely))) throw setupClosed();
    const passwordHash = await hashPassword(input.password);
    return inTransaction(deps.db, async (transaction) => {
      await transaction.selectFrom('installation').select('singleton').forUpdate().execute();
      if (!(await isSetupOpen(transaction))) throw setupClosed();
      const user = await insertUser(transaction, { name: input.name, email: input.email, role: 'admin' });
      await insertPassword(transaction, user.id, passwordHash);
      const now = deps.clock.now();
      const { token } = await insertSession(transaction, user.id, from, now);
      await transaction
        .updateTable('installation')
        .set({ setup_completed_at: new Date(now), setup_user_id: user.id })
        .execute();
      const source = { actorId: user.id, address: from.address, requestId };
      await recordEvent(transaction, source, { action: 'setup.completed', targetType: 'user', targetId: user.id });
      return { user, token };
    });
  });
}

async function isSetupOpen(db: Queryable): Promise<boolean> {
  const row = await db
    .selectFrom('installation')
    .select(sql<boolean>`setup_completed_at is null and not exists (select 1 from users)`.as('open'))
    .executeTakeFirst();
  return row?.open === true;
}

/** Checks the setup token in the body field and in the header; each one that is sent must match. */
function assertClaim(expected: string | undefined, answers: readonly (string | undefined)[]): void {
  if (expected === undefined) return;
  const given = answers.filter((answer) => answer !== undefined);
  if (given.length > 0 && given.every((answer) => equalSecret(expected, answer))) return;
  throw new ApiError('setup_claim_mismatch', 'The claim token does not match');
}

function setupClosed(): ApiError {
  return new ApiError('setup_closed', 'Setup is already complete. Sign in instead.');
}
