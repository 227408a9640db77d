import { FileList } from './archive-files.ts';
import { type Piece, reasoningPiece, textPiece } from './pieces.ts';
import { ConversationRefused, type ReadConversation, type ReadProject } from './read-conversation.ts';
import { type TreeNode, treeOf } from './tree.ts';
import { instructions, items, json, link, type Members, members, name, text, time, title } from './values.ts';

/** Conversations and projects of Claude (claude.ai). */

export function readClaude(element: Members): ReadConversation {
  const files = new FileList();
  const createdAt = time(element.created_at);
  const sourceId = name(element.uuid);
  const list = items(element.chat_messages).map(members);
  const linked = list.some((message) => typeof message.parent_message_uuid === 'string');
  let before: string | null = null;
  const nodes: TreeNode[] = list.map((message, place) => {
    const id = name(message.uuid) ?? `message-${place}`;
    const node: TreeNode = {
      id,
      parentId: linked ? (name(message.parent_message_uuid) ?? null) : before,
      role: message.sender === 'human' || message.sender === 'user' ? 'user' : 'assistant',
      pieces: messagePieces(message, id, files),
      createdAt: time(message.created_at),
      model: name(message.model) ?? name(element.model) ?? null,
    };
    before = id;
    return node;
  });
  const current = name(element.current_leaf_message_uuid) ?? before ?? undefined;
  const { messages, activeId } = treeOf(nodes, current, createdAt);
  if (messages.length === 0) throw new ConversationRefused('it has no messages');
  return {
    kind: 'conversation',
    source: 'claude',
    sourceId: sourceId ?? `unnamed:${messages[0]?.sourceId}`,
    title: title(element.name),
    createdAt,
    updatedAt: time(element.updated_at),
    archived: element.is_archived === true,
    instructions: null,
    parameters: {},
    projectId: name(element.project_uuid) ?? name(members(element.project).uuid) ?? null,
    messages,
    activeId,
    files: files.files,
    notes: [...files.notes],
  };
}

function messagePieces(message: Members, id: string, files: FileList): Piece[] {
  const content = items(message.content).flatMap((part) => contentPieces(members(part)));
  const own = content.length > 0 ? content : textPiece(text(message.text));
  const createdAt = time(message.created_at);
  const attached = items(message.attachments).flatMap((value, place) => {
    const { file_name: filename, extracted_content: extracted } = members(value);
    const label = name(filename) ?? 'pasted text';
    const words = text(extracted);
    return words === '' ? files.missing(label) : files.addText(`${id}:${place}`, label, words, createdAt);
  });
  // Uploads are named only; those whose text is in `attachments` are not named again.
  const described = new Set(items(message.attachments).map((value) => name(members(value).file_name)));
  const named = items(message.files).flatMap((value) => {
    const label = name(members(value).file_name);
    return described.has(label) ? [] : files.missing(label);
  });
  return [...own, ...attached, ...named];
}

function contentPieces(part: Members): Piece[] {
  switch (part.type) {
    case 'text':
      return textPiece(withSources(part));
    case 'thinking':
      return reasoningPiece(
        text(part.thinking) ||
          items(part.summaries)
            .map((each) => text(members(each).summary))
            .join('\n\n'),
      );
    case 'tool_use':
      return [
        { type: 'call', callId: name(part.id) ?? '', name: name(part.name) ?? 'tool', input: json(part.input) ?? {} },
      ];
    case 'tool_result':
      return [
        {
          type: 'result',
          callId: name(part.tool_use_id),
          name: name(part.name) ?? 'tool',
          output: resultText(part.content),
          isError: part.is_error === true,
        },
      ];
    default:
      return [];
  }
}

function resultText(content: unknown): unknown {
  if (typeof content === 'string') return text(content);
  const lines = items(content).map((value) => {
    const part = members(value);
    return (
      text(part.text) || link(part.title, part.url) || (name(part.type) === undefined ? '' : `[${name(part.type)}]`)
    );
  });
  return lines.filter(Boolean).join('\n');
}

function withSources(part: Members): string {
  const sources = items(part.citations).map((value) => {
    const { title: label, url, details } = members(value);
    return link(label, url ?? members(details).url);
  });
  const shown = [...new Set(sources.filter((each) => each.startsWith('[')))];
  return shown.length === 0 ? text(part.text) : `${text(part.text)}\n\n${shown.map((each) => `- ${each}`).join('\n')}`;
}

export function readClaudeProject(element: Members): ReadProject | undefined {
  const sourceId = name(element.uuid);
  if (sourceId === undefined || element.is_starter_project === true) return undefined;
  const files = new FileList();
  for (const value of items(element.docs)) {
    const doc = members(value);
    const filename = name(doc.filename) ?? 'document';
    if (text(doc.content) !== '') {
      files.addText(name(doc.uuid) ?? `doc:${filename}`, filename, text(doc.content), time(doc.created_at));
    }
  }
  const about = [text(element.prompt_template), text(element.description)].filter((each) => each.trim() !== '');
  return {
    kind: 'project',
    source: 'claude',
    sourceId,
    name: name(element.name, 100) ?? 'Claude project',
    archived: element.archived_at != null,
    instructions: instructions(about[0] ?? ''),
    createdAt: time(element.created_at),
    files: files.files,
  };
}
