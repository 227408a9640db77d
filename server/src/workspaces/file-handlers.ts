import type { endpoints } from '@homeport/contracts/endpoints';
import { limits } from '@homeport/contracts/limits';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { sendArchive, sendContent } from './download-handlers.ts';
import { defaultPath, listOrPreview, makeFolder, move, remove, stat, undoUpload, upload, withFiles } from './files.ts';

type Endpoints = typeof endpoints;

export const getWorkspaceFiles: Handler<Deps, Endpoints['getWorkspaceFiles']> = (deps, { actor, query, request }) =>
  withFiles(deps, actor.id, request.signal, (hold) =>
    listOrPreview(hold, { ...query, limit: query.limit ?? limits.pageDefault }),
  );

export const postWorkspaceFile: Handler<Deps, Endpoints['postWorkspaceFile']> = (deps, { actor, form, request }) =>
  withFiles(deps, actor.id, request.signal, async (hold) => {
    const { fields, taken } = await form.receive({
      async take({ filename, bytes }, early) {
        const path = early?.path ?? defaultPath(filename);
        return { asked: early?.path, entry: await upload(hold, path, bytes) };
      },
      drop: ({ entry }) => undoUpload(hold, entry.path),
    });
    if (fields.path === undefined || fields.path === taken.asked) return { file: taken.entry };
    // The path came after the file.
    const late = { from: taken.entry.path, to: fields.path, onConflict: 'rename' } as const;
    return {
      file: await move(hold, late).catch((error) => undoUpload(hold, late.from).then(() => Promise.reject(error))),
    };
  });

export const patchWorkspaceFile: Handler<Deps, Endpoints['patchWorkspaceFile']> = (deps, { actor, body, request }) =>
  withFiles(deps, actor.id, request.signal, async (hold) => ({
    file: await move(hold, { ...body, onConflict: 'fail' }),
  }));

export const postWorkspaceFolder: Handler<Deps, Endpoints['postWorkspaceFolder']> = (deps, { actor, body, request }) =>
  withFiles(deps, actor.id, request.signal, async (hold) => ({ file: await makeFolder(hold, body.path) }));

export const deleteWorkspaceFile: Handler<Deps, Endpoints['deleteWorkspaceFile']> = (deps, { actor, query, request }) =>
  withFiles(deps, actor.id, request.signal, async (hold) => {
    await remove(hold, query.path);
    return { ok: true };
  });

export const getWorkspaceDownload: Handler<Deps, Endpoints['getWorkspaceDownload']> = (
  deps,
  { actor, query, request },
) =>
  withFiles(deps, actor.id, request.signal, async (hold) => {
    const entry = await stat(hold, query.path);
    return entry.type === 'directory' ? sendArchive(hold, request, entry) : sendContent(hold, request, entry);
  });
