import { createHash } from 'node:crypto';
import type { ImportedChat } from '../conversations/imported-chats.ts';
import { type ImportedMessage, searchableText } from '../conversations/messages.ts';
import { indexedText } from '../conversations/search-text.ts';
import {
  importBounds,
  type ReadAssistant,
  type ReadConversation,
  type ReadFile,
  type ReadItem,
  type ReadProject,
  type ReadPrompt,
  type ReadSkill,
} from './readers/read-conversation.ts';

/** Converts items to rows, under ids that are the same at every import of an archive. Runs on the thread that reads. */

export type PreparedFile = Omit<ReadFile, 'sourceId'> & { id: string };
export type PreparedConversation = {
  kind: 'conversation';
  source: string;
  sourceId: string;
  chat: Omit<ImportedChat, 'n' | 'ownerEmail'>;
  messages: ImportedMessage[];
  files: PreparedFile[];
  notes: string[];
};
export type PreparedProject = Omit<ReadProject, 'sourceId' | 'files'> & { id: string; files: PreparedFile[] };
export type PreparedOwn =
  | ((ReadPrompt | ReadSkill) & { id: string })
  | (Omit<ReadAssistant, 'files'> & { id: string; files: PreparedFile[] });
export type PreparedItem =
  | PreparedConversation
  | PreparedProject
  | PreparedOwn
  | Exclude<ReadItem, ReadConversation | ReadProject | ReadPrompt | ReadAssistant | ReadSkill>;

/** The same id for the same thing of the same person, as a UUID of version 8. */
function deriveId(ownerId: string, ...names: readonly string[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([ownerId, ...names]))
    .digest('hex');
  const variant = ((Number.parseInt(hash[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

export function prepare(item: ReadItem, ownerId: string): PreparedItem {
  if (item.kind === 'conversation') return prepareConversation(item, ownerId);
  if (item.kind === 'prompt' || item.kind === 'skill') {
    return { ...item, id: deriveId(ownerId, item.source, item.kind, item.sourceId) };
  }
  if (item.kind !== 'project' && item.kind !== 'assistant') return item;
  const fileIds = idsOfFiles(ownerId, item.source, item.sourceId);
  const files = item.files.map(({ sourceId, ...file }) => ({ ...file, id: fileIds(sourceId) }));
  const id = deriveId(ownerId, item.source, item.kind, item.sourceId);
  if (item.kind === 'assistant') return { ...item, id, files };
  const { sourceId: _, ...project } = item;
  return { ...project, id, files };
}

/**
 * Ids of files in Homeport's own export count everywhere in it; those of others within their conversation or project.
 */
function idsOfFiles(ownerId: string, source: string, holder: string): (sourceId: string) => string {
  return (sourceId) => deriveId(ownerId, source, 'file', source === 'homeport' ? '' : holder, sourceId);
}

function prepareConversation(read: ReadConversation, ownerId: string): PreparedItem {
  const { source, sourceId, title } = read;
  const chatId = deriveId(ownerId, source, 'conversation', sourceId);
  const idOf = (id: string): string => deriveId(ownerId, source, 'message', sourceId, id);
  const fileIds = idsOfFiles(ownerId, source, sourceId);
  const files = read.files.map(({ sourceId: id, ...file }) => ({ ...file, id: fileIds(id) }));
  const messages: ImportedMessage[] = [];
  let bytes = 0;
  for (const [place, message] of read.messages.entries()) {
    const parts = JSON.stringify(message.parts).replace(
      /"url":"import(-file)?:([\w-]{1,128})"/g,
      (_, other: string | undefined, key: string) =>
        `"url":"artifact://${other === undefined ? (files[Number(key)]?.id ?? key) : fileIds(key)}"`,
    );
    bytes += parts.length;
    if (bytes > importBounds.partsBytes) {
      const reason = `it is larger than ${importBounds.partsBytes / 1024 / 1024} MiB`;
      return { kind: 'left-out', source, sourceId, title, reason };
    }
    messages.push({
      n: 0,
      place,
      id: idOf(message.sourceId),
      chatId,
      role: message.role,
      parts,
      createdAt: message.createdAt,
      parentId: message.parentId === null ? null : idOf(message.parentId),
      words: searchableText(parts),
      status: message.status,
      error: message.error,
      finishReason: message.finish?.reason ?? null,
      finishDetail: message.finish?.detail ?? null,
      modelId: message.model,
      usage: message.usage,
    });
  }
  const last = messages.at(-1)?.createdAt ?? null;
  return {
    kind: 'conversation',
    source,
    sourceId,
    messages,
    files,
    notes: read.notes,
    chat: {
      id: chatId,
      title,
      words: indexedText(title),
      archived: read.archived,
      instructions: read.instructions,
      parameters: read.parameters,
      createdAt: read.createdAt ?? messages[0]?.createdAt ?? null,
      activeMessageId: read.activeId === null ? null : idOf(read.activeId),
      updatedAt: read.updatedAt ?? last,
      projectId: read.projectId === null ? null : deriveId(ownerId, source, 'project', read.projectId),
    },
  };
}
