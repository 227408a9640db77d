import { ApiError } from '@homeport/contracts/errors';
import { type AuditSource, recordEvent } from '../../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../../db/pool.ts';
import type { Clock } from '../../platform/clock.ts';
import { insertSession, type SessionOrigin, trimSessions } from '../sessions.ts';
import { insertUser, markEmailVerified } from '../users.ts';
import { findFacts, identityOf, insertIdentity } from './identities.ts';
import { claimedEmail, type Decision, decide } from './policy.ts';
import type { Claims, Federation } from './protocol.ts';
import { Refusal } from './refusals.ts';

type Deps = { db: Pick<Database, 'kysely'>; clock: Clock };

/** A concurrent sign-in created the account or claimed the identity first: retry. */
class Overtaken extends Error {}
const triesMax = 5;

/**
 * Opens a session for the person in the claims, with the account or identity that the settings allow, in one
 * transaction with its audit events. Resolves with the session's token. Throws `Refusal`.
 */
export async function openOidcSession(
  deps: Deps,
  federation: Federation,
  claims: Claims,
  from: SessionOrigin,
  source: Omit<AuditSource, 'actorId'>,
): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inTransaction(deps.db, async (transaction) => {
        const userId = await admit(transaction, federation, claims, source);
        const { token } = await insertSession(transaction, userId, from, deps.clock.now());
        await trimSessions(transaction, userId, deps.clock.now());
        const event = { action: 'session.signed_in', details: { method: 'oidc' } } as const;
        await recordEvent(transaction, { ...source, actorId: userId }, event);
        return token;
      });
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      if (tries === triesMax) throw new Refusal('sign_in_failed', 'Overtaken again and again');
    }
  }
}

async function admit(
  transaction: Queryable,
  { settings, metadata: { issuer } }: Federation,
  claims: Claims,
  source: Omit<AuditSource, 'actorId'>,
): Promise<string> {
  const identity = identityOf(issuer, claims.subject);
  const decision = decide(claims, settings, await findFacts(transaction, identity, claimedEmail(claims)));
  if (decision.action === 'refuse') throw new Refusal(decision.code);
  if (decision.action === 'sign-in') return decision.user.id;
  const userId = decision.action === 'create-user' ? await createUser(transaction, decision) : decision.user.id;
  if (!(await insertIdentity(transaction, userId, { issuer, identity }))) throw new Overtaken();
  if (decision.action === 'link-account') await markEmailVerified(transaction, userId);
  const action = decision.action === 'create-user' ? 'oidc.provisioned' : 'oidc.linked';
  await recordEvent(transaction, { ...source, actorId: userId }, { action, targetType: 'user', targetId: userId });
  return userId;
}

async function createUser(transaction: Queryable, person: Extract<Decision, { action: 'create-user' }>) {
  try {
    const { email, name } = person;
    return (await insertUser(transaction, { name, email, role: 'user', emailVerified: true })).id;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'email_taken') throw new Overtaken();
    throw error;
  }
}
