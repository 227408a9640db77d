import type { FilePart, MessagePart } from '@homeport/contracts/chat/frames';

/** Files that are uploaded and wait to be sent, kept beside the draft of their conversation as one stored item. */

export type AttachedFile = {
  id: string;
  filename: string;
  mediaType: string;
  /** Bytes, where they are known. */
  size?: number;
  /** Its place among the files that were chosen; those that were there already have none and come first. */
  place?: number;
  /** It was uploaded for this message and is nowhere else. */
  isNew?: boolean;
  /** Origin, if not a device. */
  source?: string;
};

/** Conversations with uploads under way on this page; their trays are shown though nothing is stored yet. */
export const uploadingChats = new Set<string>();

/** The item's name among the drafts. */
export function filesName(chatId: string): string {
  return `${chatId}:files`;
}

/** Storage key of the conversation's id that was created for the files of a first message. */
export function newChatName(draftName: string): string {
  return `${draftName}:chat`;
}

export function parseAttached(stored: string): AttachedFile[] {
  if (stored === '') return [];
  try {
    const files: unknown = JSON.parse(stored);
    return Array.isArray(files) ? files.filter(isAttached) : [];
  } catch {
    return [];
  }
}

export function storeAttached(files: readonly AttachedFile[]): string {
  return files.length === 0 ? '' : JSON.stringify(files);
}

/** The files as message parts: by reference, since an artifact keeps its id when it is moved. */
export function fileParts(files: readonly AttachedFile[]): FilePart[] {
  return files.map(({ id, filename, mediaType }) => ({
    type: 'file',
    mediaType,
    filename: filename.slice(0, 255),
    url: `artifact://${id}`,
  }));
}

/** The artifacts among the parts of a message that is taken back. */
export function attachedOf(parts: readonly MessagePart[]): AttachedFile[] {
  return parts.flatMap((part) => {
    const id = part.type === 'file' ? /^artifact:\/\/(.+)$/.exec(part.url)?.[1] : undefined;
    if (part.type !== 'file' || id === undefined) return [];
    return [{ id, filename: part.filename ?? id, mediaType: part.mediaType }];
  });
}

function isAttached(value: unknown): value is AttachedFile {
  if (typeof value !== 'object' || value === null) return false;
  const { id, filename, mediaType }: { [Key in keyof AttachedFile]?: unknown } = value;
  return typeof id === 'string' && typeof filename === 'string' && typeof mediaType === 'string';
}
