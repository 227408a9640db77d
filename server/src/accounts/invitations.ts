import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import type { Invitation, invitationBody, redemptionBody } from '@homeport/contracts/admin';
import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { limits } from '@homeport/contracts/limits';
import { type Selectable, sql } from 'kysely';
import type { z } from 'zod';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
import { afterCursor, encodeCursor, microsOf, pageOf } from '../db/keyset.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { InvitationsTable } from '../db/tables/people.ts';
import type { Clock } from '../platform/clock.ts';
import { KeyedMutex } from '../platform/concurrency/keyed-mutex.ts';
import { insertPassword } from './credentials.ts';
import { readDisplayName } from './display-names.ts';
import { hashPassword } from './passwords.ts';
import { insertSession, type SessionOrigin } from './sessions.ts';
import { assertFewGuesses, recordGuess } from './sign-in-limit.ts';
import { assertSwitches } from './user-administration.ts';
import { emailTaken, insertUser, isEmailTaken } from './users.ts';

/** Invitations (contract.md section 3). The only writer of `invitations`. */

export type InvitationDeps = { db: Pick<Database, 'kysely'>; clock: Clock; config: Pick<Config, 'edition'> };
type InvitationRow = Selectable<InvitationsTable>;

const hourMs = 3_600_000;
const defaultHours = 168;

/** Invites an address. The token is returned only this once. Throws `email_taken`. */
export async function createInvitation(
  deps: InvitationDeps,
  input: z.output<typeof invitationBody>,
  administratorId: string,
  by: AuditSource,
): Promise<{ invitation: Invitation; token: string }> {
  assertSwitches(deps, input);
  const now = deps.clock.now();
  const token = randomBytes(32).toString('base64url');
  return inTransaction(deps.db, async (transaction) => {
    if (await isEmailTaken(transaction, input.email)) throw emailTaken();
    const row = await transaction
      .insertInto('invitations')
      .values({
        id: randomUUIDv7(),
        email: input.email,
        name: input.name ?? null,
        role: input.role ?? 'user',
        provider_settings_enabled: input.providerSettingsEnabled ?? true,
        mcp_settings_enabled: input.mcpSettingsEnabled ?? true,
        token_hash: hashToken(token),
        created_by: administratorId,
        created_at: new Date(now),
        expires_at: new Date(now + (input.expiresInHours ?? defaultHours) * hourMs),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const details = { email: row.email, role: row.role, expiresAt: row.expires_at.toISOString() };
    await recordEvent(transaction, by, { action: 'invitation.created', ...target(row.id), details });
    return { invitation: viewInvitation(row, now), token };
  });
}

type InvitationQuery = { q?: string; state?: 'open'; limit?: number; cursor?: string };

/** One page of invitations, newest first: all, or the open ones; `q` is part of a name or address. */
export async function listInvitations(
  deps: InvitationDeps,
  { q = '', state, limit = limits.pageDefault, cursor }: InvitationQuery,
): Promise<{ invitations: Invitation[]; nextCursor: string | null }> {
  const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`;
  const rows = await deps.db.kysely
    .selectFrom('invitations')
    .selectAll()
    .select(sql.raw<number>(microsOf('created_at')).as('micros'))
    .where(afterCursor('created_at', 'id', cursor))
    .$if(q !== '', (query) =>
      query.where((where) => where.or([where('email', 'ilike', pattern), where('name', 'ilike', pattern)])),
    )
    .$if(state === 'open', (query) =>
      query
        .where('accepted_at', 'is', null)
        .where('revoked_at', 'is', null)
        .where('expires_at', '>', new Date(deps.clock.now())),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const { shown, nextCursor } = pageOf(rows, limit, encodeCursor);
  return { invitations: shown.map((row) => viewInvitation(row, deps.clock.now())), nextCursor };
}

/**
 * Returns the invitation as shown before it is redeemed. Throws `not_found`, `invitation_used`, `invitation_expired`,
 * `rate_limited`.
 */
export async function openInvitation(
  deps: InvitationDeps,
  token: string,
  address: string,
): Promise<{ email: string; name: string | null; expiresAt: string }> {
  const row = await findRedeemable(deps, token, address);
  return { email: row.email, name: row.name, expiresAt: row.expires_at.toISOString() };
}

/** The name of the person who invites; null if that account is gone. Throws like `openInvitation`. */
export async function readInviterName(deps: InvitationDeps, token: string, address: string): Promise<string | null> {
  const { created_by: inviterId } = await findRedeemable(deps, token, address);
  return readDisplayName(deps.db.kysely, inviterId);
}

/** Per replica: tests have several in one process, which must meet only at the row. */
const turns = new WeakMap<InvitationDeps['db'], KeyedMutex<string>>();

/**
 * Creates the account of an invitation, and a session, exactly once: simultaneous requests wait for the invitation's
 * row and find it used. Throws like `openInvitation`, and `email_taken`.
 */
export async function redeemInvitation(
  deps: InvitationDeps,
  input: z.output<typeof redemptionBody>,
  from: SessionOrigin,
  requestId: string,
): Promise<{ user: User; token: string }> {
  await findRedeemable(deps, input.token, from.address);
  const tokenHash = hashToken(input.token);
  const own = turns.get(deps.db) ?? new KeyedMutex<string>();
  turns.set(deps.db, own);
  return own.take(tokenHash, async () => {
    // Of many at once, latecomers should not cost a hash each.
    assertRedeemable(await findByHash(deps.db.kysely, tokenHash), deps.clock.now());
    const passwordHash = await hashPassword(input.password);
    return inTransaction(deps.db, async (transaction) => {
      const now = deps.clock.now();
      const invitation = assertRedeemable(await findByHash(transaction, tokenHash, 'locked'), now);
      const user = await insertUser(transaction, {
        name: input.name,
        email: invitation.email,
        role: invitation.role,
        providerSettingsEnabled: invitation.provider_settings_enabled,
        mcpSettingsEnabled: invitation.mcp_settings_enabled,
      });
      await insertPassword(transaction, user.id, passwordHash);
      const { token } = await insertSession(transaction, user.id, from, now);
      await markAccepted(transaction, invitation.id, user.id, now);
      const source = { actorId: user.id, address: from.address, requestId };
      const details = { userId: user.id, email: user.email, role: user.role };
      await recordEvent(transaction, source, { action: 'invitation.redeemed', ...target(invitation.id), details });
      return { user, token };
    });
  });
}

/** Whether an address is invited: neither used, revoked nor expired. */
export async function hasOpenInvitation(db: Queryable, email: string, now: number): Promise<boolean> {
  return (await openInvitationsOf(db, email, now).executeTakeFirst()) !== undefined;
}

/**
 * Creates the account of the newest open invitation for an address that an identity provider vouches for. Undefined if
 * there is none any more. Throws `email_taken`.
 */
export async function acceptInvitationFor(
  transaction: Queryable,
  { email, name }: { email: string; name: string },
  now: number,
): Promise<{ user: User; invitationId: string } | undefined> {
  const invitation = await openInvitationsOf(transaction, email, now).forUpdate().executeTakeFirst();
  if (invitation === undefined) return undefined;
  const user = await insertUser(transaction, {
    name,
    email,
    role: invitation.role,
    providerSettingsEnabled: invitation.provider_settings_enabled,
    mcpSettingsEnabled: invitation.mcp_settings_enabled,
    emailVerified: true,
  });
  await markAccepted(transaction, invitation.id, user.id, now);
  return { user, invitationId: invitation.id };
}

function openInvitationsOf(db: Queryable, email: string, now: number) {
  return db
    .selectFrom('invitations')
    .selectAll()
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', new Date(now))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1);
}

async function markAccepted(transaction: Queryable, id: string, userId: string, now: number): Promise<void> {
  await transaction
    .updateTable('invitations')
    .set({ accepted_at: new Date(now), accepted_by: userId })
    .where('id', '=', id)
    .execute();
}

/** Revokes an invitation; doing it twice changes nothing. Throws `not_found`, `invitation_used`. */
export async function revokeInvitation(deps: InvitationDeps, id: string, by: AuditSource): Promise<Invitation> {
  const now = deps.clock.now();
  return inTransaction(deps.db, async (transaction) => {
    const found = await transaction
      .selectFrom('invitations')
      .selectAll()
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (found === undefined) throw invitationNotFound();
    if (found.accepted_at !== null) throw invitationUsed();
    if (found.revoked_at !== null) return viewInvitation(found, now);
    const row = await transaction
      .updateTable('invitations')
      .set({ revoked_at: new Date(now) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const details = { email: row.email };
    await recordEvent(transaction, by, { action: 'invitation.revoked', ...target(id), details });
    return viewInvitation(row, now);
  });
}

/** An unknown token counts as a guess. */
async function findRedeemable(deps: InvitationDeps, token: string, address: string): Promise<InvitationRow> {
  await assertFewGuesses(deps, address);
  const row = await findByHash(deps.db.kysely, hashToken(token));
  if (row === undefined) await recordGuess(deps, address);
  return assertRedeemable(row, deps.clock.now());
}

function findByHash(db: Queryable, tokenHash: string, lock?: 'locked'): Promise<InvitationRow | undefined> {
  const query = db.selectFrom('invitations').selectAll().where('token_hash', '=', tokenHash);
  return (lock === 'locked' ? query.forUpdate() : query).executeTakeFirst();
}

function assertRedeemable(row: InvitationRow | undefined, now: number): InvitationRow {
  if (row === undefined || row.revoked_at !== null) throw invitationNotFound();
  if (row.accepted_at !== null) throw invitationUsed();
  if (row.expires_at.getTime() <= now) {
    throw new ApiError('invitation_expired', 'This invitation has expired. Ask for a new one.');
  }
  return row;
}

function invitationNotFound(): ApiError {
  return new ApiError('not_found', 'Invitation not found');
}

function invitationUsed(): ApiError {
  return new ApiError('invitation_used', 'This invitation has already been used. Sign in instead.');
}

/** 256 random bits need no salt. */
function hashToken(token: string): string {
  return hash('sha256', token, 'base64url');
}

function target(id: string) {
  return { targetType: 'invitation', targetId: id } as const;
}

function viewInvitation(row: InvitationRow, now: number): Invitation {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    state: stateOf(row, now),
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

function stateOf(row: InvitationRow, now: number): Invitation['state'] {
  if (row.accepted_at !== null) return 'accepted';
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at.getTime() <= now ? 'expired' : 'pending';
}
