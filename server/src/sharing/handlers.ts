import type { endpoints } from '@homeport/contracts/endpoints';
import { readContent } from '../artifacts/contents.ts';
import type { Deps } from '../deps.ts';
import { attachment } from '../http/content-disposition.ts';
import { sendFile } from '../http/file-response.ts';
import { Content, type Handler, type RequestFacts, sourceOf } from '../http/handler.ts';
import { ownOrigin } from '../http/origin.ts';
import { Semaphore } from '../platform/concurrency/semaphore.ts';
import { encodeUtf8 } from '../platform/json/json-pieces.ts';
import { copyShare } from './copying.ts';
import { sharedPageHeaders } from './page-headers.ts';
import { getReadableShare, getSharedFile, readShare, type ShareReader } from './reading.ts';
import { changeShare, createShare, endShares, listAllShares, listShares, updateShare } from './shares.ts';

type Endpoints = typeof endpoints;

/** Shares that are read into memory at once in this process: each can be many megabytes. */
const openings = new Semaphore(4);

export const getShares: Handler<Deps, Endpoints['getShares']> = (deps, { actor, query }) =>
  listShares(deps, actor.id, query);

export const postShare: Handler<Deps, Endpoints['postShare']> = async (deps, input) => {
  const { share, token } = await createShare(deps, input.actor.id, input.body, sourceOf(input));
  return { share, url: `${ownOrigin(deps.config, input.request)}/s/${token}` };
};

export const patchShare: Handler<Deps, Endpoints['patchShare']> = async (deps, input) => ({
  share: await changeShare(deps, input.actor.id, input.body, sourceOf(input)),
});

export const deleteShare: Handler<Deps, Endpoints['deleteShare']> = async (deps, input) => {
  const which = { ownerId: input.actor.id, id: input.query.id };
  return { ok: true, deleted: await endShares(deps, which, sourceOf(input)) };
};

export const postShareUpdate: Handler<Deps, Endpoints['postShareUpdate']> = async (deps, input) => ({
  share: await updateShare(deps, input.actor.id, input.body, sourceOf(input)),
});

/** POST /api/shares/open */
export const postShareOpen: Handler<Deps, Endpoints['postShareOpen']> = async (deps, { body, request }) => {
  setHeaders(request);
  const reader = await readerOf(deps, request);
  const share = await getReadableShare(deps, reader, body);
  const text = await openings.run(() => readShare(deps, share, body.token), request.signal);
  return new Content(await encodeUtf8(text), {});
};

export const postShareCopy: Handler<Deps, Endpoints['postShareCopy']> = async (deps, { actor, body, request }) => {
  const reader = { userId: actor.id, address: request.address, signal: request.signal };
  const share = await getReadableShare(deps, reader, body);
  return { chat: await openings.run(() => copyShare(deps, actor, share), request.signal) };
};

/** GET /s/:token/files/:n */
export const getShareFile: Handler<Deps, Endpoints['getShareFile']> = async (deps, { params, query, request }) => {
  setHeaders(request);
  const file = await getSharedFile(deps, await readerOf(deps, request), { ...params, ...query });
  const served = {
    size: file.size,
    etag: `"${file.sha256}"`,
    type: file.media_type,
    disposition: attachment(file.filename),
    read: (range: { start: number; end: number }, take: (bytes: Uint8Array) => Promise<void>) =>
      readContent(deps, file, range, take),
  };
  return sendFile(request, served, {
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  });
};

export const getAdminShares: Handler<Deps, Endpoints['getAdminShares']> = (deps, { query }) =>
  listAllShares(deps, query);

export const deleteAdminShare: Handler<Deps, Endpoints['deleteAdminShare']> = async (deps, input) => {
  const deleted = await endShares(deps, { ownerId: null, id: input.query.id }, sourceOf(input));
  return { ok: true, deleted };
};

/** A session counts where there is one; it is neither required nor renewed here. */
async function readerOf(deps: Deps, { headers, address, signal }: RequestFacts): Promise<ShareReader> {
  const found = await deps.findActor(headers.get('cookie'), false);
  const isReader = found?.actor.enabled === true && !found.actor.mustChangePassword;
  return { userId: isReader ? found.actor.id : null, address, signal };
}

/** On Node's own response, so that refusals and streams carry them too. */
function setHeaders({ outgoing }: RequestFacts): void {
  for (const [name, value] of Object.entries(sharedPageHeaders)) outgoing.setHeader(name, value);
}
