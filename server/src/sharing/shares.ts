import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { Person } from '@homeport/contracts/projects';
import type {
  ManagedShare,
  SecretPlace,
  Share,
  ShareAudience,
  ShareBody,
  ShareInclude,
  SharePatch,
  SharingPolicy,
} from '@homeport/contracts/sharing';
import { type Selectable, sql } from 'kysely';
import { hashPassword } from '../accounts/passwords.ts';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { findNewestLeaf } from '../conversations/branches.ts';
import { conversationNotFound } from '../conversations/chats.ts';
import { afterCursor, encodeCursor, microsOf, pageOf } from '../db/keyset.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import type { SharesTable } from '../db/tables/sharing.ts';
import type { Platform } from '../platform.ts';
import { readSettings } from '../settings/settings.ts';
import { changePeople, readPeople, storePeople } from './share-people.ts';
import { type Snapshot, type SnapshotDeps, snapshotChat, snapshotFile } from './snapshot.ts';
import { storeSnapshot } from './stored-snapshot.ts';

/** Share links (contract.md section 12). This file alone writes `shares`, except for the count of views. */

type Needs = SnapshotDeps & Pick<Platform, 'db' | 'clock'>;
type ShareRow = Selectable<SharesTable>;
type Page = { limit?: number; cursor?: string };

/** The hash under which the token of an address is stored. */
export function shareTokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** The same for a missing, ended and foreign share. */
export function shareNotFound(): ApiError {
  return new ApiError('not_found', 'This share does not exist, or it has ended');
}

/**
 * Publishes a snapshot; the token is returned only this once. Throws `not_found`, `sharing_disabled`, `secrets_found`,
 * `payload_too_large` and `invalid_request`.
 */
export async function createShare(
  deps: Needs,
  ownerId: string,
  body: ShareBody,
  by: AuditSource,
): Promise<{ share: Share; token: string }> {
  const { kysely } = deps.db;
  assertAllowed((await readSettings(kysely)).sharing, body.audience);
  assertFuture(deps, body.expiresAt);
  const include = { reasoning: false, tools: false, files: false, author: false, ...withoutUndefined(body.include) };
  const snapshot = await makeSnapshot(deps, ownerId, {
    chatId: body.chatId ?? null,
    artifactId: body.artifactId ?? null,
    leafId: body.leafMessageId ?? null,
    include,
  });
  assertNoSecrets(snapshot.secrets, body.confirmSecrets);
  const passwordHash = body.password === undefined ? null : await hashPassword(body.password);
  const token = randomBytes(32).toString('base64url');
  const id = randomUUIDv7();
  const share = await inTransaction(deps.db, async (trx) => {
    await makeRoom(trx, ownerId, deps.clock.now(), body.chatId === undefined ? 'artifactId' : 'chatId');
    await lockSource(trx, ownerId, { chatId: body.chatId ?? null });
    const row = await trx
      .insertInto('shares')
      .values({
        id,
        owner_id: ownerId,
        token_hash: shareTokenHash(token),
        chat_id: body.chatId ?? null,
        artifact_id: body.artifactId ?? null,
        leaf_message_id: snapshot.leafMessageId,
        title: snapshot.title,
        author: include.author ? await nameOf(trx, ownerId) : null,
        audience: body.audience,
        password_hash: passwordHash,
        expires_at: body.expiresAt == null ? null : new Date(body.expiresAt),
        include: JSON.stringify(include),
        created_at: new Date(deps.clock.now()),
        updated_at: new Date(deps.clock.now()),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const people = body.audience === 'people' ? await storePeople(trx, id, body.userIds ?? []) : [];
    await storeSnapshot(trx, row, snapshot);
    const share = viewShare(row, people);
    await recordEvent(trx, by, { action: 'share.created', ...target(id), details: auditDetails(share) });
    return share;
  });
  return { share, token };
}

/** Replaces the snapshot; the address stays. Throws like `createShare`, and `not_found` for an ended share. */
export async function updateShare(
  deps: Needs,
  ownerId: string,
  body: { id: string; leafMessageId?: string | undefined; confirmSecrets?: boolean | undefined },
  by: AuditSource,
): Promise<Share> {
  const before = await getOwnShare(deps, ownerId, body.id);
  assertAllowed((await readSettings(deps.db.kysely)).sharing, before.audience);
  const leafId = body.leafMessageId ?? (await newestLeafOf(deps, before));
  const source = { chatId: before.chat_id, artifactId: before.artifact_id, leafId, include: before.include };
  const snapshot = await makeSnapshot(deps, ownerId, source);
  assertNoSecrets(snapshot.secrets, body.confirmSecrets);
  return inTransaction(deps.db, async (trx) => {
    await lockSource(trx, ownerId, { chatId: before.chat_id });
    const row = await trx
      .updateTable('shares')
      .set({
        title: snapshot.title,
        author: before.include.author ? await nameOf(trx, ownerId) : null,
        leaf_message_id: snapshot.leafMessageId,
        revision: sql`revision + 1`,
        updated_at: new Date(deps.clock.now()),
      })
      .where('id', '=', before.id)
      .where('owner_id', '=', ownerId)
      .where(isRunning(deps.clock.now()))
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw shareNotFound();
    await storeSnapshot(trx, row, snapshot);
    const details = { changed: ['snapshot'], messages: snapshot.messages.length, files: snapshot.files.length };
    await recordEvent(trx, by, { action: 'share.updated', ...target(row.id), details });
    return viewShare(row, await readPeople(trx, [row.id]).then((people) => people.get(row.id) ?? []));
  });
}

/** Changes who may read a share, and until when. Throws `not_found`, `sharing_disabled` and `invalid_request`. */
export async function changeShare(deps: Needs, ownerId: string, patch: SharePatch, by: AuditSource): Promise<Share> {
  const before = await getOwnShare(deps, ownerId, patch.id);
  const audience = patch.audience ?? before.audience;
  if (patch.audience !== undefined) assertAllowed((await readSettings(deps.db.kysely)).sharing, audience);
  assertFuture(deps, patch.expiresAt);
  const passwordHash = typeof patch.password === 'string' ? await hashPassword(patch.password) : patch.password;
  return inTransaction(deps.db, async (trx) => {
    const row = await trx
      .updateTable('shares')
      .set({
        audience,
        revision: sql`revision + 1`,
        ...(passwordHash === undefined ? {} : { password_hash: passwordHash }),
        ...(patch.expiresAt === undefined
          ? {}
          : { expires_at: patch.expiresAt === null ? null : new Date(patch.expiresAt) }),
      })
      .where('id', '=', before.id)
      .where('owner_id', '=', ownerId)
      .where(isRunning(deps.clock.now()))
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw shareNotFound();
    const share = viewShare(row, await changePeople(trx, row, patch.userIds));
    const changed = Object.keys(patch).filter((name) => name !== 'id' && Reflect.get(patch, name) !== undefined);
    const details = { changed, ...auditDetails(share) };
    await recordEvent(trx, by, { action: 'share.updated', ...target(row.id), details });
    return share;
  });
}

/** One page of a person's shares that have not ended, newest first. */
export async function listShares(
  deps: Needs,
  ownerId: string,
  { limit = limits.pageDefault, cursor }: Page,
): Promise<{ shares: Share[]; nextCursor: string | null; sharing: SharingPolicy }> {
  const { kysely } = deps.db;
  const rows = await kysely
    .selectFrom('shares')
    .selectAll()
    .select(sql.raw<number>(microsOf('created_at')).as('micros'))
    .where('owner_id', '=', ownerId)
    .where(isRunning(deps.clock.now()))
    .where(afterCursor('created_at', 'id', cursor))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const { shown, nextCursor } = pageOf(rows, limit, encodeCursor);
  const people = await readPeople(
    kysely,
    shown.map(({ id }) => id),
  );
  const shares = shown.map((row) => viewShare(row, people.get(row.id) ?? []));
  return { shares, nextCursor, sharing: (await readSettings(kysely)).sharing };
}

/** One page of all shares, newest first, for administrators. */
export async function listAllShares(
  deps: Pick<Needs, 'db' | 'clock'>,
  { limit = limits.pageDefault, cursor }: Page,
): Promise<{ shares: ManagedShare[]; nextCursor: string | null }> {
  const rows = await deps.db.kysely
    .selectFrom('shares')
    .innerJoin('users', 'users.id', 'shares.owner_id')
    .select(['shares.id', 'artifact_id', 'audience', 'expires_at', 'views', 'password_hash'])
    .select(['shares.created_at', 'shares.updated_at', 'users.id as ownerId', 'users.name', 'users.email'])
    .select(sql.raw<number>(microsOf('shares.created_at')).as('micros'))
    .where(isRunning(deps.clock.now()))
    .where(afterCursor('shares.created_at', 'shares.id', cursor))
    .orderBy('shares.created_at', 'desc')
    .orderBy('shares.id', 'desc')
    .limit(limit + 1)
    .execute();
  const { shown, nextCursor } = pageOf(rows, limit, encodeCursor);
  const shares = shown.map((row) => ({
    id: row.id,
    kind: row.artifact_id === null ? ('chat' as const) : ('file' as const),
    audience: row.audience,
    expiresAt: row.expires_at?.toISOString() ?? null,
    views: row.views,
    hasPassword: row.password_hash !== null,
    owner: { id: row.ownerId, name: row.name, email: row.email },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }));
  return { shares, nextCursor };
}

/** Ends one share, or all, of `ownerId` or of everybody; returns how many. Throws `not_found` for a missing one. */
export async function endShares(
  deps: Pick<Needs, 'db'>,
  which: { ownerId: string | null; id: string | undefined },
  by: AuditSource,
): Promise<number> {
  return inTransaction(deps.db, async (trx) => {
    let query = trx.deleteFrom('shares');
    if (which.ownerId !== null) query = query.where('owner_id', '=', which.ownerId);
    if (which.id !== undefined) query = query.where('id', '=', which.id);
    const { numDeletedRows } = await query.executeTakeFirst();
    const deleted = Number(numDeletedRows);
    if (which.id !== undefined && deleted === 0) throw shareNotFound();
    const about = which.id === undefined ? {} : target(which.id);
    if (deleted > 0) await recordEvent(trx, by, { action: 'share.deleted', ...about, details: { count: deleted } });
    return deleted;
  });
}

/** Ends all shares of an account that leaves. */
export async function endSharesOf(trx: Queryable, ownerId: string): Promise<void> {
  await trx.deleteFrom('shares').where('owner_id', '=', ownerId).execute();
}

/** SQL condition: the share has no end, or a later one. */
export function isRunning(now: number) {
  return sql<boolean>`(shares.expires_at is null or shares.expires_at > ${new Date(now)})`;
}

async function getOwnShare(deps: Pick<Needs, 'db' | 'clock'>, ownerId: string, id: string): Promise<ShareRow> {
  const row = await deps.db.kysely
    .selectFrom('shares')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .where(isRunning(deps.clock.now()))
    .executeTakeFirst();
  if (row === undefined) throw shareNotFound();
  return row;
}

type Source = { chatId: string | null; artifactId: string | null; leafId: string | null; include: ShareInclude };

function makeSnapshot(deps: Needs, ownerId: string, source: Source): Promise<Snapshot> {
  const { chatId, artifactId, leafId, include } = source;
  if (chatId !== null) return snapshotChat(deps, ownerId, { chatId, leafId: leafId ?? '', include });
  return snapshotFile(deps, ownerId, artifactId ?? '');
}

/** The newest message below the shared one; of the active branch when that one is gone. */
async function newestLeafOf({ db }: Needs, { chat_id, leaf_message_id }: ShareRow): Promise<string | null> {
  if (chat_id === null) return null;
  const leaf = leaf_message_id === null ? undefined : await findNewestLeaf(db.kysely, chat_id, leaf_message_id);
  if (leaf !== undefined) return leaf;
  const query = db.kysely.selectFrom('chats').select('active_message_id').where('id', '=', chat_id);
  return (await query.executeTakeFirst())?.active_message_id ?? null;
}

/**
 * Removes the person's expired shares, so that they don't count, and some of other people's. Creations of one person run
 * one after the other.
 */
async function makeRoom(trx: Queryable, ownerId: string, now: number, path: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('shares ' || ${ownerId}, 0))`.execute(trx);
  await trx.deleteFrom('shares').where('owner_id', '=', ownerId).where('expires_at', '<=', new Date(now)).execute();
  await sql`
    delete from shares where id = any(array(
      select id from shares where expires_at <= ${new Date(now)} order by expires_at limit ${prunedAtOnce}
      for update skip locked))`.execute(trx);
  const { count } = await trx
    .selectFrom('shares')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow();
  if (count < limits.sharesPerOwner) return;
  const message = `You can have at most ${limits.sharesPerOwner} shared links. End some first.`;
  throw new ApiError('invalid_request', message, { details: [{ path, message }] });
}

const prunedAtOnce = 100;

/** The conversation stays until the commit. */
async function lockSource(trx: Queryable, ownerId: string, { chatId }: { chatId: string | null }): Promise<void> {
  if (chatId === null) return;
  const query = trx.selectFrom('chats').select('id').where('id', '=', chatId).where('owner_id', '=', ownerId);
  if ((await query.forKeyShare().executeTakeFirst()) === undefined) throw conversationNotFound();
}

function viewShare(row: ShareRow, people: Person[]): Share {
  return {
    id: row.id,
    kind: row.chat_id === null ? 'file' : 'chat',
    title: row.title,
    audience: row.audience,
    expiresAt: row.expires_at?.toISOString() ?? null,
    views: row.views,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    chatId: row.chat_id,
    artifactId: row.artifact_id,
    include: row.include,
    hasPassword: row.password_hash !== null,
    userIds: people.map(({ id }) => id).sort(),
    people,
  };
}

function assertAllowed(policy: SharingPolicy, audience: ShareAudience): void {
  if (policy === 'public' || (policy === 'inside' && audience !== 'link')) return;
  const message =
    policy === 'off' ? 'Sharing is switched off here' : 'Only people with an account here may read shares';
  throw new ApiError('sharing_disabled', message);
}

function assertFuture({ clock }: Pick<Needs, 'clock'>, expiresAt: string | null | undefined): void {
  if (expiresAt == null || Date.parse(expiresAt) > clock.now()) return;
  throw invalid('expiresAt', 'A time in the future');
}

function assertNoSecrets(places: SecretPlace[], isConfirmed: boolean | undefined): void {
  if (places.length === 0 || isConfirmed === true) return;
  throw new ApiError('secrets_found', 'Some texts look like keys or passwords', { details: { places } });
}

async function nameOf(trx: Queryable, userId: string): Promise<string> {
  return (await trx.selectFrom('users').select('name').where('id', '=', userId).executeTakeFirstOrThrow()).name;
}

function auditDetails({ kind, audience, expiresAt, hasPassword, userIds }: Share) {
  return { kind, audience, expiresAt, hasPassword, userIds };
}

function target(id: string) {
  return { targetType: 'share', targetId: id };
}

function invalid(path: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path, message }] });
}

function withoutUndefined(include: ShareBody['include']): Partial<ShareInclude> {
  return Object.fromEntries(Object.entries(include ?? {}).filter(([, value]) => value !== undefined));
}
