import type { OidcRefusal } from '@homeport/contracts/accounts/accounts';
import { ApiError } from '@homeport/contracts/errors';
import { type AuditSource, recordEvent } from '../../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../../db/pool.ts';
import type { Clock } from '../../platform/clock.ts';
import type { OidcSettings } from '../../settings/oidc.ts';
import { acceptInvitationFor } from '../invitations.ts';
import { insertSession, type SessionOrigin, trimSessions } from '../sessions.ts';
import { changeProfile, insertUser, isEmailTaken, markEmailVerified } from '../users.ts';
import type { Claims } from './claims.ts';
import { findFacts, identityOf, insertIdentity } from './identities.ts';
import { claimedEmail, type Decision, decide, decideLink, type KnownUser, profileChanges } from './policy.ts';
import { endSessionAddress, type Federation, type Redeemed } from './protocol.ts';
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
  { claims, idToken }: Redeemed,
  from: SessionOrigin,
  source: Omit<AuditSource, 'actorId'>,
): Promise<string> {
  const signOutUrl = endSessionAddress(federation, idToken);
  for (let tries = 1; ; tries += 1) {
    try {
      return await inTransaction(deps.db, async (transaction) => {
        const userId = await admit(transaction, federation, claims, source, deps.clock.now());
        const { token } = await insertSession(transaction, userId, from, deps.clock.now(), {
          byOidc: true,
          signOutUrl,
        });
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

/** Links an identity to the account of a signed-in person. Linking it twice changes nothing. Throws `Refusal`. */
export async function linkIdentity(
  deps: Deps,
  { settings }: Federation,
  claims: Claims,
  userId: string,
  source: Omit<AuditSource, 'actorId'>,
): Promise<void> {
  const identity = identityOf(claims.issuer, claims.subject);
  await inTransaction(deps.db, async (transaction) => {
    const { owner } = await findFacts(transaction, identity, undefined, deps.clock.now());
    const decision = decideLink(claims, settings, { owner, userId });
    if (decision === 'is-linked') return;
    if (decision !== 'link') throw new Refusal(decision);
    const isNew = await insertIdentity(transaction, userId, { issuer: claims.issuer, identity });
    if (!isNew) throw new Refusal('identity_taken');
    const event = { action: 'oidc.linked', targetType: 'user', targetId: userId } as const;
    await recordEvent(transaction, { ...source, actorId: userId }, event);
  });
}

async function admit(
  transaction: Queryable,
  { settings }: Federation,
  claims: Claims,
  source: Omit<AuditSource, 'actorId'>,
  now: number,
): Promise<string> {
  const { issuer } = claims;
  const identity = identityOf(issuer, claims.subject);
  const facts = await findFacts(transaction, identity, claimedEmail(claims, settings), now);
  const decision = decide(claims, settings, facts);
  if (decision.action === 'refuse') throw refusalOf(decision.code, claims);
  if (decision.action === 'sign-in') {
    if (settings.syncProfile) await followProfile(transaction, settings, claims, decision.user, source);
    return decision.user.id;
  }
  const userId = 'user' in decision ? decision.user.id : await createUser(transaction, decision, source, now);
  if (!(await insertIdentity(transaction, userId, { issuer, identity }))) throw new Overtaken();
  if ('user' in decision) {
    await markEmailVerified(transaction, userId);
    if (settings.syncProfile) await followProfile(transaction, settings, claims, decision.user, source);
  }
  const action = 'user' in decision ? 'oidc.linked' : 'oidc.provisioned';
  await recordEvent(transaction, { ...source, actorId: userId }, { action, targetType: 'user', targetId: userId });
  return userId;
}

/** An address that could not be asked for is a fault of the provider, not of the person. */
function refusalOf(code: OidcRefusal, { userinfoFault: fault }: Claims): Refusal {
  if (fault === undefined || (code !== 'email_missing' && code !== 'email_not_verified')) return new Refusal(code);
  const isAway = fault.code === 'provider_unreachable' || fault.code === 'blocked_destination';
  return new Refusal(isAway ? 'provider_unreachable' : code, fault.message, fault);
}

/** Name and address follow the provider; an address that another account has stays as it is. */
async function followProfile(
  transaction: Queryable,
  settings: OidcSettings,
  claims: Claims,
  user: KnownUser,
  source: Omit<AuditSource, 'actorId'>,
): Promise<void> {
  const { email, ...others } = profileChanges(claims, settings, user);
  const isFree = email !== undefined && !(await isEmailTaken(transaction, email));
  const changes = isFree ? { ...others, email } : others;
  if (Object.keys(changes).length === 0) return;
  await asOvertaken(() => changeProfile(transaction, user.id, changes));
  const details = { changed: Object.keys(changes), ...changes, by: 'oidc' };
  const event = { action: 'user.updated', targetType: 'user', targetId: user.id, details } as const;
  await recordEvent(transaction, { ...source, actorId: user.id }, event);
}

async function createUser(
  transaction: Queryable,
  { action, email, name }: Extract<Decision, { email: string }>,
  source: Omit<AuditSource, 'actorId'>,
  now: number,
): Promise<string> {
  if (action === 'create-user') {
    const person = { name, email, role: 'user', emailVerified: true } as const;
    return (await asOvertaken(() => insertUser(transaction, person))).id;
  }
  const accepted = await asOvertaken(() => acceptInvitationFor(transaction, { email, name }, now));
  if (accepted === undefined) throw new Overtaken();
  const { user, invitationId } = accepted;
  const details = { userId: user.id, email: user.email, role: user.role };
  const event = { action: 'invitation.redeemed', targetType: 'invitation', targetId: invitationId, details } as const;
  await recordEvent(transaction, { ...source, actorId: user.id }, event);
  return user.id;
}

/** An address that was free a moment ago is taken: decide again. */
async function asOvertaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && error.code === 'email_taken') throw new Overtaken();
    throw error;
  }
}
