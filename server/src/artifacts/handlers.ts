import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import type { Deps } from '../deps.ts';
import type { FormSink } from '../http/body/form-body.ts';
import { attachment, inline } from '../http/content-disposition.ts';
import { sendFile, untrustedHeaders } from '../http/file-response.ts';
import { Content, type Handler, Reply, type RequestFacts, sourceOf } from '../http/handler.ts';
import { type ListRequest, listArtifacts } from './artifact-list.ts';
import { type ArtifactRow, getArtifact, type Target, viewArtifact } from './artifacts.ts';
import type { StoredBlob, TakeBytes } from './blob-store.ts';
import { discardStored } from './blobs.ts';
import { previewOf, readContent } from './contents.ts';
import { importArtifact } from './imports.ts';
import type { Changer } from './knowledge.ts';
import { moveArtifact, removeArtifacts } from './moves.ts';
import { getNamespace, type Reader, type Scope } from './namespaces.ts';
import { filenameOf, parseFolder, parsePath } from './path.ts';
import { createArtifact, uploadPath } from './uploads.ts';
import { atVersion, listVersions, restoreVersion } from './versions.ts';

type Endpoints = typeof endpoints;
type One = { id?: string; path?: string };
type List = Omit<ListRequest, 'folder'> & { prefix?: string };
/** User and namespace of a request. */
export type Asked = { userId: string; scope: Scope };

export const getArtifacts: Handler<Deps, Endpoints['getArtifacts']> = (deps, { actor, query }) =>
  answerList(deps, { userId: actor.id, scope: query }, query);

export const getArtifactStat: Handler<Deps, Endpoints['getArtifactStat']> = async (deps, { actor, query }) => ({
  artifact: viewArtifact(await findRow(deps, { userId: actor.id, scope: query }, query)),
});

export const getArtifactPreview: Handler<Deps, Endpoints['getArtifactPreview']> = async (deps, input) =>
  answerPreview(deps, await findVersion(deps, input), input.request);

export const getArtifactDownload: Handler<Deps, Endpoints['getArtifactDownload']> = async (deps, input) =>
  answerDownload(deps, await findVersion(deps, input), input.request);

export const getArtifactVersions: Handler<Deps, Endpoints['getArtifactVersions']> = async (deps, { actor, query }) => ({
  versions: await listVersions(deps.db.kysely, await findRow(deps, { userId: actor.id, scope: query }, query)),
});

export const postArtifactRestore: Handler<Deps, Endpoints['postArtifactRestore']> = async (deps, input) => {
  const { id, path, version, ...scope } = input.body;
  const row = await restoreVersion(deps, changerOf(input), { scope, target: targetOf({ id, path }), version });
  return { artifact: viewArtifact(row) };
};

export async function answerList(deps: Deps, { userId, scope }: Asked, { prefix = '', ...list }: List) {
  const folder = prefix === '' || prefix === '/' ? undefined : parseFolder(prefix, 'prefix');
  return listArtifacts(deps, await getNamespace(deps.db.kysely, { userId }, scope), { ...list, folder });
}

export async function answerPreview(deps: Deps, row: ArtifactRow, request: RequestFacts) {
  const preview = await previewOf(deps, row);
  if (preview === undefined) throw new ApiError('unsupported_media_type', 'No preview for this file type');
  const disposition = inline(filenameOf(row.path));
  if (preview.kind === 'file') return sendFile(request, { ...servedFile(deps, row), type: preview.type, disposition });
  return new Content(preview.text, {
    ...untrustedHeaders(request),
    'content-type': preview.type,
    'content-disposition': disposition,
    'x-preview-truncated': String(preview.isCut),
  });
}

export function answerDownload(deps: Deps, row: ArtifactRow, request: RequestFacts) {
  return sendFile(request, {
    ...servedFile(deps, row),
    type: row.media_type,
    disposition: attachment(filenameOf(row.path)),
  });
}

export const postArtifact: Handler<Deps, Endpoints['postArtifact']> = async (deps, input) => {
  const { actor } = input;
  const reader = { userId: actor.id };
  const { fields, file, taken } = await input.form.receive(
    storing(deps, reader, (early, name) => uploadPath({ ...early, filename: name })),
  );
  const { path, onConflict, source, ...scope } = fields;
  const { filename, mediaType } = file;
  const upload = { scope, path, onConflict, source, filename, mediaType, by: sourceOf(input) };
  return { artifact: await createArtifact(deps, actor.id, upload, taken) };
};

export const patchArtifact: Handler<Deps, Endpoints['patchArtifact']> = async (deps, input) => {
  const { id, from, to, ...scope } = input.body;
  return moveArtifact(deps, changerOf(input), { scope, id, from, to });
};

export const deleteArtifact: Handler<Deps, Endpoints['deleteArtifact']> = async (deps, input) => {
  const { prefix, ...one } = input.query;
  return answerRemoval(deps, { ...changerOf(input), scope: input.query }, { prefix, ...one });
};

export async function answerRemoval(
  deps: Deps,
  { scope, ...changer }: Changer & { scope: Scope },
  { prefix, ...one }: One & { prefix?: string },
) {
  const target = prefix === undefined ? targetOf(one) : { folder: parseFolder(prefix, 'prefix') };
  return { ok: true as const, deleted: await removeArtifacts(deps, changer, scope, target) };
}

export const postArtifactImport: Handler<Deps, Endpoints['postArtifactImport']> = async (deps, input) => {
  const { fields, file, taken } = await input.form.receive(
    storing(deps, 'anybody', ({ path = '' }) => parsePath(path, 'path')),
  );
  const { artifactId, importSource, path, mediaType = file.mediaType, createdAt, ...scope } = fields;
  const given = {
    scope,
    artifactId: artifactId.toLowerCase(),
    importSource,
    path,
    mediaType,
    createdAt: createdAt === undefined ? undefined : new Date(createdAt),
  };
  const imported = await importArtifact(deps, sourceOf(input), given, taken);
  return new Reply(imported, { status: imported.skipped ? 200 : 201 });
};

export async function findRow(deps: Deps, { userId, scope }: Asked, one: One): Promise<ArtifactRow> {
  const target = targetOf(one);
  return getArtifact(deps.db.kysely, await getNamespace(deps.db.kysely, { userId }, scope), target);
}

function changerOf(input: Parameters<typeof sourceOf>[0] & { actor: { id: string } }): Changer {
  return { userId: input.actor.id, by: sourceOf(input) };
}

type Versioned = { actor: { id: string }; query: Scope & One & { version?: number } };

async function findVersion(deps: Deps, { actor, query }: Versioned): Promise<ArtifactRow> {
  return atVersion(deps.db.kysely, await findRow(deps, { userId: actor.id, scope: query }, query), query.version);
}

function targetOf({ id, path }: One): Target {
  return id === undefined ? { path: parsePath(path ?? '', 'path') } : { id };
}

function servedFile(deps: Deps, row: ArtifactRow) {
  return {
    size: row.size,
    etag: `"${row.sha256}"`,
    read: (range: { start: number; end: number }, take: TakeBytes) => readContent(deps, row, range, take),
  };
}

/** Puts a form's file into the store, unless the fields before it already rule it out. */
function storing<Fields extends Scope & { path?: string }>(
  deps: Deps,
  reader: Reader,
  check: (fields: Fields, filename: string | undefined) => unknown,
): FormSink<Fields, StoredBlob> {
  return {
    async take(file, fields) {
      if (fields !== undefined) {
        check(fields, file.filename);
        await getNamespace(deps.db.kysely, reader, fields);
      }
      return deps.artifactStore.put(file.bytes);
    },
    drop: (stored) => discardStored(deps, stored),
  };
}
