import type { MessagePart } from '@homeport/contracts/chat/frames';
import type { ManifestConversation, ManifestMessage } from '@homeport/contracts/provision/manifest';
import type { ImportedChat } from '../../conversations/imported-chats.ts';
import { type ImportedMessage, searchableText } from '../../conversations/messages.ts';
import { indexedText } from '../../conversations/search-text.ts';

/** A manifest's conversations as rows. `n` and `place` say where in the manifest each comes from. */
export type ConversationRows = { chat: ImportedChat; messages: ImportedMessage[] };

/** A conversation's messages follow each other; the last one ends the active branch. */
export function conversationRows(conversation: ManifestConversation, n: number): ConversationRows {
  const { id, ownerEmail, title, archived = false, createdAt, messages } = conversation;
  const { instructions, parameters = {} } = conversation;
  const begun = createdAt === undefined ? null : isoTime(createdAt);
  const rows: ImportedMessage[] = [];
  let parentId: string | null = null;
  let last = begun;
  for (const [place, message] of messages.entries()) {
    if (message.createdAt !== undefined) last = isoTime(message.createdAt);
    rows.push({ n, place, chatId: id, parentId, ...messageRow(message, begun) });
    parentId = message.id;
  }
  const words = indexedText(title);
  const chat = {
    n,
    id,
    ownerEmail,
    title,
    words,
    archived,
    activeMessageId: parentId,
    createdAt: begun,
    updatedAt: last,
    instructions: instructions || null,
    parameters,
  };
  return { chat, messages: rows };
}

function messageRow(message: ManifestMessage, begun: string | null) {
  const parts = JSON.stringify(message.parts.map(storedPart));
  const createdAt = message.createdAt === undefined ? begun : isoTime(message.createdAt);
  return { id: message.id, role: message.role, parts, words: searchableText(parts), createdAt };
}

function isoTime(text: string): string {
  return new Date(text).toISOString();
}

type GivenPart = ManifestMessage['parts'][number];

/** A part in the form in which answers are stored: every tool is dynamic, and nothing is streaming. */
function storedPart(part: GivenPart): MessagePart {
  const { type } = part;
  if (type !== 'dynamic-tool' && !type.startsWith('tool-')) {
    return (part.state === 'streaming' ? { ...part, state: 'done' } : part) as MessagePart;
  }
  // Members keep their order, so that an export of imported data has the same text.
  const named = type === 'dynamic-tool' ? {} : { type: 'dynamic-tool', toolName: type.slice('tool-'.length) };
  const tool: GivenPart = { ...part, ...named };
  if (typeof tool.rawInput !== 'string') delete tool.rawInput;
  if (part.state === 'approval-responded') tool.state = 'input-available';
  if (part.state === 'output-denied')
    Object.assign(tool, { state: 'output-error', errorText: part.errorText ?? 'Denied' });
  return tool as MessagePart;
}
