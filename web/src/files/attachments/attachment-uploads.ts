import type { Artifact } from '@homeport/contracts/files/artifacts';
import { limits } from '@homeport/contracts/limits';
import { call } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { uploadFile } from '../../api/upload.ts';
import {
  type AttachedFile,
  filesName,
  newChatName,
  parseAttached,
  storeAttached,
  uploadingChats,
} from '../../conversation/draft/attached-files.ts';
import type { DraftStore } from '../../conversation/draft/drafts.ts';
import { type NewChat, newChatBody } from '../../conversation/new-chat.ts';
import { UploadQueue } from './upload-queue.ts';

export type AttachmentUploadOptions = {
  userId: string;
  chatId: string;
  drafts: DraftStore;
  maximumBytes: number;
  draftName: string;
  /** The conversation has to be created before it can have files; absent if it exists. */
  newChat: NewChat | undefined;
};

/** Leaves room for the text and one more part. */
export const mostFiles = limits.partsPerMessage - 2;

const desks = new Map<string, { queue: UploadQueue; options: AttachmentUploadOptions }>();

/** The uploads for a conversation's next message. They continue when another conversation is shown. */
export function createAttachmentUploads(options: AttachmentUploadOptions): UploadQueue {
  const { userId, chatId } = options;
  const key = `${userId} ${chatId}`;
  const known = desks.get(key);
  if (known) {
    known.options.newChat = options.newChat;
    return known.queue;
  }
  const kept = { ...options };
  const queue = createDesk(kept);
  desks.set(key, { queue, options: kept });
  return queue;
}

/** `desk.newChat` is read when the conversation is created: until then people may change their choices. */
function createDesk(desk: AttachmentUploadOptions): UploadQueue {
  const { chatId, drafts, maximumBytes, draftName } = desk;
  let created: Promise<void> | undefined;
  const ensureChat = () => {
    created ??= desk.newChat ? createChat(chatId, desk.newChat) : Promise.resolve();
    // After a failure, it is tried again with the next file.
    created.catch(() => {
      created = undefined;
    });
    return created;
  };
  const queue = new UploadQueue({
    upload: async (file, options) => {
      await ensureChat();
      options.signal.throwIfAborted();
      if (desk.newChat) drafts.replace(newChatName(draftName), chatId);
      return uploadFile(file, { scope: { chatId }, path: file.name }, options);
    },
    onDone: (artifact, key) => attach(drafts, chatId, artifact, Number(key)),
    refuse: (file) => (file.size > maximumBytes ? 'too-large' : undefined),
  });
  queue.subscribe(() => {
    if (queue.getView().length > 0) uploadingChats.add(chatId);
    else uploadingChats.delete(chatId);
    warnWhileBusy();
  });
  return queue;
}

/**
 * Adds an artifact to the draft, once. An uploaded one keeps its place in order: small files arrive before large ones.
 */
export function attach(drafts: DraftStore, chatId: string, artifact: Artifact, place?: number): void {
  const { id, filename, mediaType, size, source } = artifact;
  const files = parseAttached(drafts.read(filesName(chatId)));
  if (files.some((file) => file.id === id) || files.length >= mostFiles) return;
  const uploaded = place === undefined ? {} : { place, isNew: true };
  const next = [...files, { id, filename, mediaType, size, ...uploaded, ...(source === undefined ? {} : { source }) }];
  drafts.replace(filesName(chatId), storeAttached(next.sort((a, b) => (a.place ?? 0) - (b.place ?? 0))));
}

/** Removes a file from the draft; one that was uploaded only for it is also deleted from the conversation. */
export function detach(drafts: DraftStore, chatId: string, file: AttachedFile): void {
  const files = parseAttached(drafts.read(filesName(chatId)));
  drafts.replace(filesName(chatId), storeAttached(files.filter(({ id }) => id !== file.id)));
  // If deleting fails, it is listed among the files and can be deleted there.
  if (file.isNew) call('DELETE /api/artifacts', { query: { chatId, id: file.id } }).catch(() => {});
}

async function createChat(id: string, newChat: NewChat): Promise<void> {
  try {
    await call('POST /api/chats', { body: newChatBody(id, newChat) });
  } catch (error) {
    // An earlier attempt created it.
    if (!(error instanceof ApiFailure && error.code === 'id_taken')) throw error;
  }
}

function warnWhileBusy(): void {
  const isBusy = [...desks.values()].some(({ queue }) => queue.isBusy);
  window.removeEventListener('beforeunload', warn);
  if (isBusy) window.addEventListener('beforeunload', warn);
}

const warn = (event: BeforeUnloadEvent) => event.preventDefault();
