import { FileList } from './archive-files.ts';
import { type Piece, reasoningPiece, textPiece } from './pieces.ts';
import { ConversationRefused, importBounds, type ReadConversation } from './read-conversation.ts';
import { type TreeNode, treeOf } from './tree.ts';
import { instructions, items, jsonOrText, type Members, members, name, text, time, title } from './values.ts';

/** One conversation of LibreChat; a file holds one. */

export function readLibreChat(element: Members): ReadConversation {
  const files = new FileList();
  const options = members(element.options);
  const flat = flatten(items(element.messagesTree ?? element.messages));
  const isLinear =
    element.branches === false && element.recursive !== true && flat.every(({ parent }) => parent === undefined);
  let before: string | null = null;
  let latest: string | undefined;
  const nodes: TreeNode[] = flat.map(({ message, parent }, place) => {
    const id = name(message.messageId) ?? `message-${place}`;
    const linked = parent ?? name(message.parentMessageId) ?? null;
    const isUser = message.isCreatedByUser === true || message.sender === 'User';
    const node: TreeNode = {
      id,
      parentId: isLinear && linked === null ? before : linked,
      role: isUser ? 'user' : 'assistant',
      pieces: messagePieces(message, files),
      createdAt: time(message.createdAt),
      model: name(message.model) ?? name(options.model) ?? null,
      ...(message.error === true ? { error: text(message.text) || 'The answer failed' } : {}),
    };
    before = id;
    latest = id;
    return node;
  });
  const first = nodes[0]?.createdAt ?? null;
  const { messages, activeId } = treeOf(nodes, latest, first);
  if (messages.length === 0) throw new ConversationRefused('it has no messages');
  return {
    kind: 'conversation',
    source: 'librechat',
    sourceId: name(element.conversationId) ?? `unnamed:${messages[0]?.sourceId}`,
    title: title(element.title),
    createdAt: time(element.createdAt) ?? first,
    updatedAt: time(element.updatedAt) ?? messages.at(-1)?.createdAt ?? null,
    archived: element.isArchived === true,
    instructions: instructions(options.promptPrefix ?? options.system),
    parameters: {},
    projectId: null,
    messages,
    activeId,
    files: files.files,
    notes: [...files.notes],
  };
}

type Found = { message: Members; parent: string | undefined };

/** Nested answers as a list, without recursion: an archive may nest them to any depth. */
function flatten(roots: readonly unknown[]): Found[] {
  const found: Found[] = [];
  const waiting = [...roots].reverse().map((value) => ({ value, parent: undefined as string | undefined }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.length > importBounds.nodes)
      throw new ConversationRefused(`it has more than ${importBounds.nodes} messages`);
    const message = members(next.value);
    found.push({ message, parent: next.parent });
    const parent = name(message.messageId);
    for (const child of [...items(message.children)].reverse()) waiting.push({ value: child, parent });
  }
  return found;
}

function messagePieces(message: Members, files: FileList): Piece[] {
  const content = items(message.content).flatMap((part) => contentPieces(members(part), files));
  const own = content.length > 0 ? content : message.error === true ? [] : textPiece(text(message.text));
  const attached = [...items(message.files), ...items(message.attachments)].flatMap((value) =>
    files.missing(members(value).filename ?? members(value).name),
  );
  return [...own, ...attached];
}

function contentPieces(part: Members, files: FileList): Piece[] {
  switch (part.type) {
    case 'text':
      return textPiece(text(part.text) || text(members(part.text).value));
    case 'think':
      return reasoningPiece(text(part.think) || text(members(part.think).value));
    case 'tool_call':
      return toolPieces(members(part.tool_call));
    case 'image_file':
      return files.missing(members(part.image_file).filename ?? 'picture');
    case 'image_url':
      return files.missing('picture');
    case 'error':
      return textPiece(text(part.error) || text(members(part.text).value));
    case 'summary':
      return textPiece(text(part.summary) || text(part.text));
    default:
      return [];
  }
}

function toolPieces({ id, name: given, args, output }: Members): Piece[] {
  const callId = name(id) ?? '';
  const tool = name(given) ?? 'tool';
  const input = typeof args === 'string' ? jsonOrText(args) : members(args);
  const call: Piece = { type: 'call', callId, name: tool, input: typeof input === 'string' ? { input } : input };
  return typeof output === 'string' ? [call, { type: 'result', callId, name: tool, output: text(output) }] : [call];
}
