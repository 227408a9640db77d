import { ApiError } from '@homeport/contracts/errors';
import type { OpenedShare, SharingPolicy } from '@homeport/contracts/sharing';
import { type Selectable, sql } from 'kysely';
import type { Config } from '../config/config.ts';
import type { Queryable } from '../db/pool.ts';
import type { ShareFilesTable, SharesTable } from '../db/tables/sharing.ts';
import type { Platform } from '../platform.ts';
import { isSigned, type SignedFile, signFile } from './file-address.ts';
import { trySharePassword } from './password-tries.ts';
import { isRunning, shareNotFound, shareTokenHash } from './shares.ts';

/** Reading a share. Nothing is cached: an end, a change and the setting count from the next request on. */

export type ReadingDeps = Pick<Platform, 'db' | 'clock'> & { config: Pick<Config, 'authSecret'> };
/** Reader of a share; `userId` is null without a session. */
export type ShareReader = { userId: string | null; address: string; signal: AbortSignal };
export type OpenShareRow = Selectable<SharesTable> & { policy: SharingPolicy };

type Given = { token: string; password?: string | undefined };
type FileRow = Selectable<ShareFilesTable>;

/** The share as this reader may open it. Throws `not_found`, `unauthorized` and `share_password`. */
export async function getReadableShare(deps: ReadingDeps, reader: ShareReader, given: Given): Promise<OpenShareRow> {
  const share = await findShare(deps, given.token);
  if (share === undefined) throw shareNotFound();
  await assertAudience(deps, share, reader.userId);
  if (share.password_hash === null) return share;
  const { address, signal } = reader;
  const outcome = await trySharePassword(
    deps,
    { shareId: share.id, address, signal },
    share.password_hash,
    given.password,
  );
  if (outcome === 'locked') throw shareNotFound();
  if (outcome === 'wrong') throw new ApiError('share_password', 'Give the password of this share');
  return share;
}

/** True if the address belongs to a share that is open to some reader. */
export async function hasShare(deps: Pick<ReadingDeps, 'db' | 'clock'>, token: string): Promise<boolean> {
  return (await findShare(deps, token)) !== undefined;
}

/** The JSON text of a share that this reader may open, from one instant of the database; counts the view. */
export async function readShare(deps: ReadingDeps, { id }: OpenShareRow, token: string): Promise<string> {
  const { kysely } = deps.db;
  const { numUpdatedRows } = await kysely
    .updateTable('shares')
    .set({ views: sql`views + 1` })
    .where('id', '=', id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw shareNotFound();
  return kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const share = await findShare(deps, token, trx);
      if (share === undefined) throw shareNotFound();
      const messages = await readMessages(trx, id);
      const files = (await readFiles(trx, id)).map((file) => viewFile(deps, share, token, file));
      const head = JSON.stringify({ share: viewOpened(share) }).slice(0, -1);
      return `${head},"messages":[${messages.join(',')}],"files":${JSON.stringify(files)}}`;
    });
}

/** One file of a share, by its number. Throws like `getReadableShare`. */
export async function getSharedFile(
  deps: ReadingDeps,
  reader: ShareReader,
  { token, n, ...query }: { token: string; n: string; expires?: string | undefined; signature?: string | undefined },
): Promise<FileRow> {
  const share = await findShare(deps, token);
  if (share === undefined || !/^(?:0|[1-9]\d{0,8})$/.test(n)) throw shareNotFound();
  const isGranted = isSigned(deps.config.authSecret, signedFile(share, Number(n)), query, deps.clock.now());
  if (!isGranted) await getReadableShare(deps, reader, { token });
  const file = (await readFiles(deps.db.kysely, share.id, Number(n)))[0];
  if (file === undefined) throw shareNotFound();
  return file;
}

/** All files of a share by their numbers. */
export function readFiles(db: Queryable, shareId: string, n?: number): Promise<FileRow[]> {
  const query = db.selectFrom('share_files').selectAll().where('share_id', '=', shareId).orderBy('n');
  return (n === undefined ? query : query.where('n', '=', n)).execute();
}

async function findShare(
  { db, clock }: Pick<ReadingDeps, 'db' | 'clock'>,
  token: string,
  trx: Queryable = db.kysely,
): Promise<OpenShareRow | undefined> {
  return trx
    .selectFrom('shares')
    .innerJoin('users as owner', 'owner.id', 'shares.owner_id')
    .innerJoin('settings', (join) => join.onTrue())
    .selectAll('shares')
    .select('settings.sharing as policy')
    .where('token_hash', '=', shareTokenHash(token))
    .where('owner.enabled', '=', true)
    .where('owner.deleted_at', 'is', null)
    .where('settings.sharing', '<>', 'off')
    .where(isRunning(clock.now()))
    .executeTakeFirst();
}

async function assertAudience({ db }: ReadingDeps, share: OpenShareRow, userId: string | null): Promise<void> {
  if (share.audience === 'people') {
    if (userId === share.owner_id) return;
    if (userId === null || !(await isNamed(db.kysely, share.id, userId))) throw shareNotFound();
  } else if (userId === null && isForMembers(share)) {
    throw new ApiError('unauthorized', 'Sign in to read this');
  }
}

/** Under `inside`, a link is for people with an account. */
function isForMembers({ audience, policy }: OpenShareRow): boolean {
  return audience === 'signed_in' || policy === 'inside';
}

async function isNamed(db: Queryable, shareId: string, userId: string): Promise<boolean> {
  const query = db.selectFrom('share_people').select('user_id').where('share_id', '=', shareId);
  return (await query.where('user_id', '=', userId).executeTakeFirst()) !== undefined;
}

async function readMessages(trx: Queryable, shareId: string): Promise<string[]> {
  const query = trx.selectFrom('share_messages').selectAll().where('share_id', '=', shareId).orderBy('n');
  return (await query.execute()).map(
    ({ n, role, status, parts, finish_reason: finishReason, created_at: createdAt }) => {
      const head = JSON.stringify({ id: String(n), role }).slice(0, -1);
      const end = JSON.stringify({ status, finishReason, createdAt }).slice(1);
      return `${head},"parts":${parts},${end}`;
    },
  );
}

function viewOpened(share: OpenShareRow): OpenedShare['share'] {
  return {
    id: share.id,
    kind: share.chat_id === null ? 'file' : 'chat',
    title: share.title,
    audience: share.audience,
    expiresAt: share.expires_at?.toISOString() ?? null,
    views: share.views,
    createdAt: share.created_at.toISOString(),
    updatedAt: share.updated_at.toISOString(),
    author: share.author,
  };
}

function viewFile(deps: ReadingDeps, share: OpenShareRow, token: string, file: FileRow): OpenedShare['files'][number] {
  const { n, filename, media_type: mediaType, size } = file;
  const isOpen = share.password_hash === null && share.audience === 'link' && share.policy === 'public';
  const signature = isOpen ? '' : signFile(deps.config.authSecret, signedFile(share, n), deps.clock.now());
  return { n, filename, mediaType, size, url: `/s/${token}/files/${n}${signature}` };
}

function signedFile({ id, revision, policy }: OpenShareRow, n: number): SignedFile {
  return { shareId: id, revision, policy, n };
}
