import { Readable } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import { freePath, insertArtifact, isPathTaken } from '../artifacts/artifacts.ts';
import type { BlobStore, StoredBlob } from '../artifacts/blob-store.ts';
import { adoptBlob, discardStored } from '../artifacts/blobs.ts';
import { mediaTypeOf } from '../artifacts/media-type.ts';
import { lockNamespace, type Scope } from '../artifacts/namespaces.ts';
import { filenameOf, parsePath, pathOfName } from '../artifacts/path.ts';
import { quotaLeft } from '../artifacts/quota.ts';
import { insertVersions } from '../artifacts/versions.ts';
import { importChats, showImported } from '../conversations/imported-chats.ts';
import { type ImportedMessage, importMessages } from '../conversations/messages.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import { systemClock } from '../platform/clock.ts';
import type { Disk } from '../platform/disk-space.ts';
import type { Platform } from '../platform.ts';
import { importProject } from '../projects/projects.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { readOperation } from '../settings/operation.ts';
import { type ClaimedImport, holdClaim } from './import-claims.ts';
import { noteAt, settleEntry } from './import-entries.ts';
import { EntryDamaged, type ImportReader } from './import-reader.ts';
import type { PreparedConversation, PreparedFile, PreparedProject } from './prepare.ts';
import type { ReadContent } from './readers/read-conversation.ts';

/** One item of an archive: its files into the store, then everything in one transaction. */

export type ImportDeps = Pick<Platform, 'db' | 'log' | 'clock' | 'config'> & { artifactStore: BlobStore } & {
  disk: Pick<Disk, 'assertRoom'>;
  sandbox: Sandbox;
};
export type Place = { run: ClaimedImport; archive: ImportReader; position: number };

/** The import was canceled, or another replica has claimed it. */
export class ClaimLost extends Error {}

/** The store takes nothing at the moment; the file itself is sound. */
export class StoreFailed extends Error {}

const statementBytes = 1_000_000;
const statementRows = 500;

type StoredVersion = { version: number; mediaType: string | undefined; createdAt: string | null; stored: StoredBlob };
type StoredFile = { file: PreparedFile; stored: StoredBlob; earlier: StoredVersion[] };

export async function importConversation(deps: ImportDeps, place: Place, item: PreparedConversation): Promise<void> {
  await withFiles(deps, place, item.files, (trx, files) => insertConversation(trx, place, item, files));
}

export async function importProjectItem(deps: ImportDeps, place: Place, item: PreparedProject): Promise<void> {
  const { run, position } = place;
  await withFiles(deps, place, item.files, async (trx, files) => {
    const isNew = await importProject(trx, run.owner_id, item);
    const count = await insertFiles(trx, run.owner_id, { projectId: item.id }, files);
    const came = { outcome: isNew ? 'new' : 'same', messages: 0, files: count, first: null, last: null } as const;
    await settleEntry(trx, { importId: run.id, position }, came);
  });
}

/** Stores the files for `work`, and removes those that no row references in the end. */
export async function withFiles(
  deps: ImportDeps,
  { run, archive, position }: Place,
  files: readonly PreparedFile[],
  work: (trx: Queryable, files: readonly StoredFile[]) => Promise<void>,
): Promise<void> {
  const stored: StoredFile[] = [];
  const blobs: StoredBlob[] = [];
  const used = new Set<string>();
  try {
    const note = (text: string) => noteAt(deps.db.kysely, { importId: run.id, position }, text);
    const missing = await missingFiles(deps, files);
    let bytesLeft = missing.length === 0 ? 0 : await quotaLeft(deps.db.kysely, deps, run.owner_id);
    /** Undefined: it does not come, and the report says why. */
    const store = async (content: ReadContent, what: string): Promise<StoredBlob | undefined> => {
      const blob = bytesLeft > 0 ? await storeContent(deps, archive, content) : undefined;
      if (blob !== undefined) blobs.push(blob);
      else if (bytesLeft > 0) await note(`${what.charAt(0).toUpperCase()}${what.slice(1)} is damaged or too large`);
      else await note(`There is no room for ${what}: the limit of your account is reached`);
      bytesLeft -= blob?.size ?? 0;
      return blob;
    };
    for (const file of missing) {
      const name = `“${filenameOf(file.name)}”`;
      const present = await store(file.content, `the file ${name}`);
      if (present === undefined) continue;
      const kept: StoredFile = { file, stored: present, earlier: [] };
      stored.push(kept);
      let bytes = 0;
      for (const { content, ...version } of file.versions?.earlier ?? []) {
        const blob = await store(content, `version ${version.version} of the file ${name}`);
        bytes += blob?.size ?? 0;
        if (bytes > limits.artifactVersionBytes) break;
        if (blob !== undefined) kept.earlier.push({ ...version, stored: blob });
      }
    }
    await inTransaction(deps.db, async (trx) => {
      if (!(await holdClaim(trx, run))) throw new ClaimLost();
      for (const { stored: blob, earlier } of stored) {
        for (const each of [blob, ...earlier.map((version) => version.stored)])
          used.add((await adoptBlob(trx, each)).key);
      }
      await work(trx, stored);
    });
  } catch (error) {
    used.clear();
    throw error;
  } finally {
    for (const blob of blobs) if (!used.has(blob.key)) await discardStored(deps, blob);
  }
}

async function missingFiles(deps: ImportDeps, files: readonly PreparedFile[]): Promise<PreparedFile[]> {
  if (files.length === 0) return [];
  const ids = files.map(({ id }) => id);
  const { rows } = await sql<{ id: string }>`select id from artifacts where id = any(${ids})`.execute(deps.db.kysely);
  const here = new Set(rows.map(({ id }) => id));
  return files.filter(({ id }) => !here.has(id));
}

/** Undefined for an entry that is missing, damaged or too large. */
async function storeContent(
  deps: ImportDeps,
  archive: ImportReader,
  content: ReadContent,
): Promise<StoredBlob | undefined> {
  const { artifactMaxUploadBytes: most } = await readOperation(deps);
  if ('bytes' in content && content.bytes.length > most) return undefined;
  await deps.disk.assertRoom('files');
  const source =
    'entry' in content ? await archive.read(content.entry, most) : Readable.from([Buffer.from(content.bytes)]);
  if (source === undefined) return undefined;
  let failure: unknown;
  async function* watched(bytes: AsyncIterable<Buffer>) {
    try {
      yield* bytes;
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  try {
    return await deps.artifactStore.put(watched(source));
  } catch (error) {
    if (failure instanceof EntryDamaged) return undefined;
    // The process that reads the archive ended.
    if (failure !== undefined) throw failure;
    throw error instanceof ApiError ? error : new StoreFailed('The file could not be stored', { cause: error });
  }
}

/** Inserts stored files into a namespace, under free paths. Returns how many. */
export async function insertFiles(
  trx: Queryable,
  ownerId: string,
  scope: Scope,
  files: readonly StoredFile[],
): Promise<number> {
  if (files.length === 0) return 0;
  const namespace = await lockNamespace(trx, { userId: ownerId }, scope);
  for (const { file, stored, earlier } of files) {
    const wanted = pathFor(file.name);
    const path = (await isPathTaken(trx, namespace, wanted)) ? await freePath(trx, namespace, wanted) : wanted;
    await insertArtifact(trx, namespace, {
      id: file.id,
      path,
      createdBy: ownerId,
      content: stored,
      mediaType: mediaTypeOf(file.mediaType, filenameOf(path)),
      ...(file.createdAt === null ? {} : { createdAt: new Date(file.createdAt) }),
      ...(file.versions === undefined
        ? {}
        : {
            changed: { version: file.versions.present, changedBy: ownerId, changedAt: dateOf(file.versions.changedAt) },
          }),
    });
    const versions = earlier.map(({ version, mediaType, createdAt, stored: content }) => {
      const type = mediaTypeOf(mediaType, filenameOf(path));
      return { version, content, mediaType: type, createdAt: dateOf(createdAt) };
    });
    await insertVersions(trx, file.id, ownerId, versions);
  }
  return files.length;
}

/** Without one: now. */
function dateOf(time: string | null): Date {
  return time === null ? new Date(systemClock.now()) : new Date(time);
}

/** The path as it was, as far as it is one. */
function pathFor(given: string): string {
  try {
    return parsePath(given, 'path');
  } catch {
    return pathOfName(given);
  }
}

async function insertConversation(
  trx: Queryable,
  { run, position }: Place,
  item: PreparedConversation,
  files: readonly StoredFile[],
): Promise<void> {
  const { owner_id: ownerId, email } = run;
  const { chat } = item;
  const projectId = await ownProject(trx, ownerId, chat.projectId ?? null);
  const created = (await importChats(trx, [{ ...chat, n: 0, ownerEmail: email, projectId }])).length > 0;
  const known = created
    ? { ids: new Set<string>(), active: null, isUntouched: true }
    : await lockKnown(trx, ownerId, item);
  const count = await insertFiles(trx, ownerId, { chatId: chat.id }, files);
  const missing = item.messages.filter(({ id }) => !known.ids.has(id));
  for (const batch of batchesOf(missing)) {
    if ((await importMessages(trx, batch)) < batch.length)
      throw new Error('a message of this conversation is elsewhere');
  }
  const isNewLeaf = missing.some(({ id }) => id === chat.activeMessageId);
  if (!created && known.isUntouched && isNewLeaf && chat.activeMessageId !== null) {
    await showImported(trx, chat.id, chat.activeMessageId, chat.updatedAt);
  }
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select min(seq) as first, max(seq) as last from messages
    where chat_id = ${chat.id} and id = any(${missing.map(({ id }) => id)})`.execute(trx);
  const outcome = created ? 'new' : missing.length > 0 ? 'more' : 'same';
  const seqs = { first: rows[0]?.first ?? null, last: rows[0]?.last ?? null };
  await settleEntry(trx, { importId: run.id, position }, { outcome, messages: missing.length, files: count, ...seqs });
}

/** Locks and returns the part of the conversation that earlier imports added; throws if the id is another user's. */
async function lockKnown(trx: Queryable, ownerId: string, { chat, messages }: PreparedConversation) {
  const { rows: locked } = await sql<{ active: string | null }>`
    select active_message_id as active from chats where id = ${chat.id} and owner_id = ${ownerId} for no key update`.execute(
    trx,
  );
  const found = locked[0];
  if (found === undefined) throw new Error('the id of this conversation is in use');
  const ids = messages.map(({ id }) => id);
  const { rows } = await sql<{ id: string; own: boolean }>`
    select id, id = any(${ids}) as own from messages where chat_id = ${chat.id}`.execute(trx);
  const known = new Set(rows.flatMap(({ id, own }) => (own ? [id] : [])));
  return { ids: known, active: found.active, isUntouched: rows.every(({ own }) => own) };
}

/** The project only if this person is a member of it here. */
async function ownProject(trx: Queryable, ownerId: string, projectId: string | null): Promise<string | null> {
  if (projectId === null) return null;
  const { rows } = await sql`
    select project_id from project_members where project_id = ${projectId} and user_id = ${ownerId}`.execute(trx);
  return rows.length > 0 ? projectId : null;
}

function* batchesOf(messages: readonly ImportedMessage[]): Generator<ImportedMessage[], void> {
  let batch: ImportedMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    batch.push(message);
    bytes += message.parts.length + message.words.length;
    if (bytes < statementBytes && batch.length < statementRows) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
