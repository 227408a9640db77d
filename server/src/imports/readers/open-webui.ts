import { type ArchiveFiles, FileList } from './archive-files.ts';
import { detailPieces } from './open-webui-details.ts';
import { type Piece, reasoningPiece, textPiece } from './pieces.ts';
import { ConversationRefused, type ReadConversation } from './read-conversation.ts';
import { type TreeNode, treeOf } from './tree.ts';
import {
  instructions,
  isMembers,
  items,
  json,
  jsonOrText,
  link,
  type Members,
  members,
  name,
  text,
  time,
  title,
} from './values.ts';

/** Conversations of Open WebUI: from its export, or from a row of its database in the same form. */

export function readOpenWebUi(element: Members, archive: ArchiveFiles): ReadConversation {
  const chat = isMembers(element.chat) ? element.chat : element;
  const history = members(chat.history);
  const files = new FileList();
  const createdAt = time(element.created_at) ?? time(chat.timestamp);
  const models = items(chat.models).map((model) => name(model));
  const nodes = isMembers(history.messages)
    ? Object.entries(history.messages).map(([id, value]) => nodeOf(members(value), id, models, files, archive))
    : items(chat.messages).map((value, place, all) => {
        const message = members(value);
        const node = nodeOf(message, name(message.id) ?? `message-${place}`, models, files, archive);
        const before = members(all[place - 1]);
        return { ...node, parentId: place === 0 ? null : (name(before.id) ?? `message-${place - 1}`) };
      });
  const { messages, activeId } = treeOf(nodes, name(history.currentId), createdAt);
  if (messages.length === 0) throw new ConversationRefused('it has no messages');
  const sourceId = name(element.id) ?? name(chat.id) ?? `unnamed:${messages[0]?.sourceId}`;
  return {
    kind: 'conversation',
    source: 'open-webui',
    sourceId,
    title: title(element.title ?? chat.title),
    createdAt,
    updatedAt: time(element.updated_at),
    archived: element.archived === true || element.archived === 1,
    instructions: instructions(text(chat.system) || text(members(chat.params).system)),
    parameters: {},
    projectId: name(element.folder_id) ?? null,
    messages,
    activeId,
    files: files.files,
    notes: [...files.notes],
  };
}

function nodeOf(
  message: Members,
  id: string,
  models: (string | undefined)[],
  files: FileList,
  archive: ArchiveFiles,
): TreeNode {
  const createdAt = time(message.timestamp) ?? time(message.created_at);
  const isUser = message.role === 'user';
  const model = name(message.modelName) ?? name(message.model) ?? name(message.model_id) ?? models[0] ?? null;
  const failure = text(members(message.error).content) || text(message.error);
  const output = items(message.output);
  const fragments = output.length > 0 ? output.flatMap(outputPieces) : detailPieces(text(message.content));
  const attached = items(message.files).flatMap((file, place) =>
    fileOf(members(file), `${id}:${place}`, createdAt, files, archive),
  );
  return {
    id,
    parentId: name(message.parentId) ?? name(message.parent_id) ?? null,
    role: message.role === 'system' ? 'hidden' : isUser ? 'user' : 'assistant',
    pieces: [...fragments, ...attached, ...sourcePieces(message.sources)],
    createdAt,
    model,
    ...(failure === '' ? {} : { error: failure }),
  };
}

/** Items in the style of the Responses API. */
function outputPieces(value: unknown): Piece[] {
  const item = members(value);
  const fragments = textsOf(item.content);
  switch (item.type) {
    case 'message':
      return textPiece(fragments);
    case 'reasoning':
      return reasoningPiece(fragments || textsOf(item.summary) || text(item.summary));
    case 'function_call': {
      const input = typeof item.arguments === 'string' ? jsonOrText(item.arguments) : json(item.arguments);
      const call = isMembers(input) ? input : { input };
      return [{ type: 'call', callId: name(item.call_id) ?? '', name: name(item.name) ?? 'tool', input: call }];
    }
    case 'function_call_output':
      return [
        {
          type: 'result',
          callId: name(item.call_id),
          name: name(item.name) ?? 'tool',
          output: typeof item.output === 'string' ? text(item.output) : textsOf(item.output),
        },
      ];
    default:
      return textPiece(fragments);
  }
}

function textsOf(content: unknown): string {
  if (typeof content === 'string') return text(content);
  return items(content)
    .map((part) => text(members(part).text))
    .filter(Boolean)
    .join('\n\n');
}

function fileOf(
  file: Members,
  sourceId: string,
  createdAt: string | null,
  files: FileList,
  archive: ArchiveFiles,
): Piece[] {
  if (file.type === 'collection' || file.type === 'web_search') return [];
  const inner = members(file.file);
  const meta = members(inner.meta ?? file.meta);
  const label =
    name(file.name) ?? name(inner.filename) ?? name(meta.name) ?? (file.type === 'image' ? 'picture' : 'file');
  const url = text(file.url);
  const inline = files.addDataUrl(sourceId, label, url, createdAt);
  if (inline !== undefined) return inline;
  const found = archive.findUpload(name(file.id) ?? name(inner.id) ?? url.split('/').at(-1) ?? '');
  if (found !== undefined) {
    const own = { sourceId: found.entry, name: found.name, mediaType: name(meta.content_type), createdAt };
    return files.add({ ...own, content: { entry: found.entry } });
  }
  const extracted = text(members(inner.data).content);
  return extracted === '' ? files.missing(label) : files.addText(sourceId, label, extracted, createdAt);
}

/** Sources of an answer: documents it was given, or pages it found. */
function sourcePieces(sources: unknown): Piece[] {
  const links = items(sources).flatMap((value) => {
    const { source, metadata } = members(value);
    const own = members(source);
    const pages = items(metadata).map(members);
    return [link(own.name, own.url), ...pages.map((page) => link(page.title ?? page.name, page.source ?? page.url))];
  });
  const shown = [...new Set(links.filter((each) => each.startsWith('[')))];
  return textPiece(shown.map((each) => `- ${each}`).join('\n'));
}
