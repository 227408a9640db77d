import { type Piece, textPiece } from './pieces.ts';
import type { LeftOut, ReadConversation, ReadItem } from './read-conversation.ts';
import { type TreeNode, treeOf } from './tree.ts';
import { instructions, items, type Members, members, name, text, title } from './values.ts';

/** The whole history of chatbot-ui, version 1: no times, no branches. */

export function* readChatbotUi(file: Members): Generator<ReadItem, void> {
  for (const value of items(file.folders)) {
    const folder = members(value);
    const sourceId = name(folder.id);
    if (sourceId === undefined || (folder.type !== undefined && folder.type !== 'chat')) continue;
    const own = { sourceId, name: name(folder.name, 100) ?? 'Folder', archived: false, instructions: null };
    yield { kind: 'project', source: 'chatbot-ui', ...own, createdAt: null, files: [] };
  }
  for (const [place, value] of items(file.history).entries()) yield readConversation(members(value), place);
}

function readConversation(element: Members, place: number): ReadConversation | LeftOut {
  const sourceId = name(element.id) ?? `conversation-${place}`;
  const list = items(element.messages).map(members);
  const model = name(members(element.model).id) ?? name(element.model) ?? null;
  const nodes: TreeNode[] = list.map((message, index) => ({
    id: String(index),
    parentId: index === 0 ? null : String(index - 1),
    role: message.role === 'system' ? 'hidden' : message.role === 'user' ? 'user' : 'assistant',
    pieces: contentPieces(message.content),
    createdAt: null,
    model,
  }));
  const { messages, activeId } = treeOf(nodes, undefined, null);
  const origin = { source: 'chatbot-ui', sourceId, title: title(element.name) } as const;
  if (messages.length === 0) return { kind: 'left-out', ...origin, reason: 'it has no messages' };
  const system = list.find((message) => message.role === 'system');
  return {
    kind: 'conversation',
    ...origin,
    createdAt: null,
    updatedAt: null,
    archived: false,
    instructions: instructions(text(element.prompt) || text(system?.content)),
    parameters: temperatureOf(element.temperature),
    projectId: name(element.folderId) ?? null,
    messages,
    activeId,
    files: [],
    notes: [],
  };
}

function contentPieces(content: unknown): Piece[] {
  if (typeof content === 'string') return textPiece(text(content));
  return items(content).flatMap((part) => textPiece(text(members(part).text)));
}

function temperatureOf(value: unknown) {
  return typeof value === 'number' && value >= 0 && value <= 2 ? { temperature: value } : {};
}
