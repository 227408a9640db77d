import { ApiError } from '@homeport/contracts/errors';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { ArtifactsTable } from '../db/tables/tables.ts';
import type { Namespace } from './namespaces.ts';
import { filenameOf, foldersAbove, rangeBelow, searchText, splitForNumber } from './path.ts';

/**
 * Artifact records. Only this file writes the table `artifacts`, besides assistants/knowledge.ts, which restores the
 * files of a version; all changes of paths run under `lockNamespace`.
 * Folders have no records: a folder consists of the artifacts below it.
 */

export type ArtifactRow = Pick<
  Selectable<ArtifactsTable>,
  | 'id'
  | 'chat_id'
  | 'project_id'
  | 'assistant_id'
  | 'path'
  | 'size'
  | 'media_type'
  | 'sha256'
  | 'created_by'
  | 'created_at'
  | 'source'
  | 'version'
>;

export const artifactColumns = [
  'id',
  'chat_id',
  'project_id',
  'assistant_id',
  'path',
  'size',
  'media_type',
  'sha256',
  'created_by',
  'created_at',
  'source',
  'version',
] as const;

export function viewArtifact(row: ArtifactRow): Artifact {
  return {
    id: row.id,
    namespace: viewNamespace(row),
    path: row.path,
    filename: filenameOf(row.path),
    size: row.size,
    mediaType: row.media_type,
    sha256: row.sha256,
    createdBy: row.created_by ?? 'deleted',
    createdAt: row.created_at.toISOString(),
    version: row.version,
    ...(row.source === null ? {} : { source: row.source }),
  };
}

function viewNamespace({ chat_id, project_id, assistant_id }: ArtifactRow): Artifact['namespace'] {
  if (project_id !== null) return { type: 'project', id: project_id };
  if (assistant_id !== null) return { type: 'assistant', id: assistant_id };
  return { type: 'chat', id: chat_id ?? '' };
}

export function artifactNotFound(): ApiError {
  return new ApiError('not_found', 'Artifact not found');
}

export function pathTaken(): ApiError {
  return new ApiError('path_taken', 'A file or folder already exists at this path');
}

/** By id or by parsed path, in this namespace only. */
export type Target = { id: string } | { path: string };

export async function findArtifact(
  db: Queryable,
  namespace: Namespace,
  target: Target,
): Promise<ArtifactRow | undefined> {
  const query = db.selectFrom('artifacts').select(artifactColumns).where('namespace', '=', namespace.key);
  return 'id' in target
    ? query.where('id', '=', target.id).executeTakeFirst()
    : query.where('path', '=', target.path).executeTakeFirst();
}

export async function getArtifact(db: Queryable, namespace: Namespace, target: Target): Promise<ArtifactRow> {
  const row = await findArtifact(db, namespace, target);
  if (row === undefined) throw artifactNotFound();
  return row;
}

/** True if something is at the path or below it, or if a file is where one of its folders would be. */
export async function isPathTaken(trx: Queryable, namespace: Namespace, path: string): Promise<boolean> {
  const { first, end } = rangeBelow(path);
  const { rows } = await sql<{ taken: boolean }>`
    select exists (select from artifacts where namespace = ${namespace.key} and path = any(${[path, ...foldersAbove(path)]}))
      or exists (select from artifacts where namespace = ${namespace.key} and path >= ${first} and path < ${end})
      as taken`.execute(trx);
  return rows[0]?.taken === true;
}

/** The path with the first number that makes it free; throws `path_taken` if no number can. */
export async function freePath(trx: Queryable, namespace: Namespace, path: string): Promise<string> {
  const { stem, extension } = splitForNumber(path);
  const { rows } = await sql<{ path: string }>`
    select candidate as path
    from (select (${stem}::text || ' (' || n || ')' || ${extension}::text) collate "C" as candidate
      from generate_series(2, 10000) n) c
    where not exists (select from artifacts where namespace = ${namespace.key} and path = candidate)
      and not exists (select from artifacts where namespace = ${namespace.key}
        and path >= candidate || '/' and path < candidate || '0')
    limit 1`.execute(trx);
  const free = rows[0]?.path;
  if (free === undefined || (await isPathTaken(trx, namespace, free))) throw pathTaken();
  return free;
}

export type NewArtifact = {
  id: string;
  path: string;
  mediaType: string;
  content: { sha256: string; size: number };
  createdBy: string | null;
  createdAt?: Date;
  source?: string;
  /** Of one that was replaced where it comes from. */
  changed?: { version: number; changedBy: string; changedAt: Date };
};

/** The caller has made sure that the path is free; an id in use anywhere throws `id_taken`. */
export async function insertArtifact(
  trx: Queryable,
  namespace: Namespace,
  artifact: NewArtifact,
): Promise<ArtifactRow> {
  const { changed } = artifact;
  const row = await trx
    .insertInto('artifacts')
    .values({
      id: artifact.id,
      chat_id: namespace.type === 'chat' ? namespace.id : null,
      project_id: namespace.type === 'project' ? namespace.id : null,
      assistant_id: namespace.type === 'assistant' ? namespace.id : null,
      path: artifact.path,
      search: searchText(artifact.path),
      media_type: artifact.mediaType,
      size: artifact.content.size,
      sha256: artifact.content.sha256,
      created_by: artifact.createdBy,
      source: artifact.source ?? null,
      ...(artifact.createdAt === undefined ? {} : { created_at: artifact.createdAt }),
      ...(changed === undefined
        ? {}
        : { version: changed.version, changed_by: changed.changedBy, changed_at: changed.changedAt }),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning(artifactColumns)
    .executeTakeFirst();
  if (row === undefined) throw new ApiError('id_taken', 'This id is already in use');
  return row;
}

/**
 * Other bytes under the same id; `changedBy` undefined: they are the same, of another type. versions.ts keeps what was
 * there.
 */
export async function setContent(
  trx: Queryable,
  id: string,
  next: Pick<NewArtifact, 'mediaType' | 'content'> & { version: number; changedBy: string | undefined },
): Promise<ArtifactRow> {
  const { mediaType, content, version, changedBy } = next;
  const changed = changedBy === undefined ? {} : { version, changed_by: changedBy, changed_at: sql<Date>`now()` };
  return trx
    .updateTable('artifacts')
    .set({ media_type: mediaType, size: content.size, sha256: content.sha256, ...changed })
    .where('id', '=', id)
    .returning(artifactColumns)
    .executeTakeFirstOrThrow();
}

export async function setPath(trx: Queryable, id: string, path: string): Promise<ArtifactRow> {
  return trx
    .updateTable('artifacts')
    .set({ path, search: searchText(path) })
    .where('id', '=', id)
    .returning(artifactColumns)
    .executeTakeFirstOrThrow();
}

/** How many artifacts are below a folder, and the length in bytes of the longest path. */
export async function measureFolder(
  trx: Queryable,
  namespace: Namespace,
  folder: string,
): Promise<{ count: number; longest: number }> {
  const { first, end } = rangeBelow(folder);
  const { rows } = await sql<{ count: number; longest: number }>`
    select count(*)::int as count, coalesce(max(octet_length(path)), 0) as longest from artifacts
    where namespace = ${namespace.key} and path >= ${first} and path < ${end}`.execute(trx);
  return rows[0] ?? { count: 0, longest: 0 };
}

/** Moves everything below `from` to `to`. */
export async function movePaths(trx: Queryable, namespace: Namespace, from: string, to: string): Promise<number> {
  const { first, end } = rangeBelow(from);
  const { numAffectedRows } = await sql`
    update artifacts set path = ${to} || substr(path, ${[...from].length + 1}::int),
      search = ${searchText(to)} || substr(search, ${[...searchText(from)].length + 1}::int)
    where namespace = ${namespace.key} and path >= ${first} and path < ${end}`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** Gives all artifacts of one namespace to another one, with `folder`, unless empty, before their paths. */
export async function moveAll(trx: Queryable, from: Namespace, to: Namespace, folder: string): Promise<number> {
  const before = folder === '' ? '' : `${folder}/`;
  const [chatId, projectId] = to.type === 'chat' ? [to.id, null] : [null, to.id];
  const { numAffectedRows } = await sql`
    update artifacts set chat_id = ${chatId}, project_id = ${projectId}, path = ${before} || path, search = ${searchText(before)} || search
    where namespace = ${from.key}`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/**
 * Deletes one artifact, or everything below a folder, with their earlier versions; resolves with how many, and all
 * their contents.
 */
export async function deleteArtifacts(
  trx: Queryable,
  namespace: Namespace,
  target: Target | { folder: string },
): Promise<{ count: number; contents: string[] }> {
  const { rows } = await sql<{ sha256: string; is_current: boolean }>`
    with gone as (
      delete from artifacts where namespace = ${namespace.key} and ${aimedAt(target)} returning id, sha256
    )
    select sha256, true as is_current from gone
    union all select v.sha256, false from gone g join artifact_versions v on v.artifact_id = g.id`.execute(trx);
  return { count: rows.filter((row) => row.is_current).length, contents: rows.map(({ sha256 }) => sha256) };
}

function aimedAt(target: Target | { folder: string }): RawBuilder<boolean> {
  if ('id' in target) return sql<boolean>`id = ${target.id}`;
  if ('path' in target) return sql<boolean>`path = ${target.path}`;
  const { first, end } = rangeBelow(target.folder);
  return sql<boolean>`path >= ${first} and path < ${end}`;
}
