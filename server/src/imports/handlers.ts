import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import { recordEvent } from '../audit/audit.ts';
import type { Deps } from '../deps.ts';
import { type Handler, sourceOf } from '../http/handler.ts';
import { listEntries } from './import-entries.ts';
import { beginUndo, cancelImport, createImport, getImport, listImports, startImport } from './import-records.ts';
import { undoImport } from './import-undo.ts';

type Endpoints = typeof endpoints;

/** POST /api/imports: the archive is stored before this answers. */
export const postImport: Handler<Deps, Endpoints['postImport']> = async (deps, { actor, query, upload }) => {
  const stored = await deps.artifactStore.put(upload.bytes);
  const given = { filename: query.filename, isWanted: query.dryRun !== true };
  if (stored.size === 0) {
    await deps.artifactStore.remove([stored.key]);
    throw new ApiError('invalid_request', 'The archive is empty', {
      details: [{ path: '', message: 'The archive is empty' }],
    });
  }
  const record = await createImport(deps, actor.id, given, stored);
  deps.imports.look();
  return { import: record };
};

/** GET /api/imports */
export const getImports: Handler<Deps, Endpoints['getImports']> = async ({ db }, { actor, query }) => {
  if (query.id === undefined) return { imports: await listImports(db.kysely, actor.id) };
  const record = await getImport(db.kysely, actor.id, query.id);
  const after = query.cursor === undefined ? -1 : positionOf(query.cursor);
  return { import: record, ...(await listEntries(db.kysely, record.id, { limit: query.limit, after })) };
};

/** POST /api/imports/start */
export const postImportStart: Handler<Deps, Endpoints['postImportStart']> = async (deps, input) => {
  const record = await startImport(deps.db.kysely, input.actor.id, input.body.id);
  deps.imports.look();
  return { import: record };
};

/** DELETE /api/imports: cancels a running import, and undoes a finished one. */
export const deleteImport: Handler<Deps, Endpoints['deleteImport']> = async (deps, input) => {
  const { kysely } = deps.db;
  const { id } = input.query;
  const found = await getImport(kysely, input.actor.id, id);
  if (!(await cancelImport(kysely, input.actor.id, id)) && (await beginUndo(kysely, input.actor.id, id))) {
    await undoImport(deps, { id, owner_id: input.actor.id }, input.request.signal);
    const details = { conversations: found.counts.imported };
    await recordEvent(kysely, sourceOf(input), {
      action: 'import.undone',
      targetType: 'import',
      targetId: id,
      details,
    });
  }
  return { ok: true, import: await getImport(kysely, input.actor.id, id) };
};

function positionOf(cursor: string): number {
  const position = /^\d{1,9}$/.test(cursor) ? Number(cursor) : undefined;
  if (position !== undefined) return position;
  throw new ApiError('invalid_request', 'The request is not valid. cursor: not a cursor of this list', {
    details: [{ path: 'cursor', message: 'Not a cursor of this list' }],
  });
}
