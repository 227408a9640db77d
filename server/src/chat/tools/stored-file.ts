import type { FilePart } from '@homeport/contracts/chat/frames';
import type { AttachedFile } from '../../artifacts/attachments.ts';
import type { BlobStore } from '../../artifacts/blob-store.ts';
import { createArtifact } from '../../artifacts/uploads.ts';
import type { Platform } from '../../platform.ts';

export type FileStoreDeps = Pick<Platform, 'config' | 'db' | 'log'> & { artifactStore: BlobStore };

/** The person and the conversation that a file belongs to. */
export type FileOwner = { owner_id: string; chat_id: string };

export type NewFile = { filename: string | undefined; mediaType: string; bytes: Buffer };

/**
 * Stores a file of an answer as an artifact; committed when it resolves. The caller has bounded its size; throws when
 * the account has no room.
 */
export async function storeFile(
  deps: FileStoreDeps,
  { owner_id: userId, chat_id: chatId }: FileOwner,
  { filename, mediaType, bytes }: NewFile,
): Promise<{ part: FilePart; file: AttachedFile }> {
  const stored = await deps.artifactStore.put(ReadableStream.from([bytes]));
  const artifact = await createArtifact(deps, userId, { scope: { chatId }, filename, mediaType }, stored);
  const { id, sha256, size, filename: name } = artifact;
  return {
    part: { type: 'file', mediaType, filename: name, url: `artifact://${id}` },
    file: { id, name, mediaType, sha256, size },
  };
}
