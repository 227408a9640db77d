import type { ArchiveFiles } from './archive-files.ts';
import { FileList } from './archive-files.ts';
import { contentOf } from './chatgpt-content.ts';
import { ConversationRefused, type ReadConversation, type ReadItem } from './read-conversation.ts';
import { type TreeNode, treeOf } from './tree.ts';
import { instructions, isMembers, items, type Members, members, name, text, time, title } from './values.ts';

/** Conversations of ChatGPT, of every form of its export since 2023. */

export function readChatGpt(element: Members, archive: ArchiveFiles): ReadItem[] {
  const sourceId = name(element.conversation_id) ?? name(element.id);
  if (!isMembers(element.mapping)) throw new ConversationRefused('its messages are missing in the archive');
  const createdAt = time(element.create_time);
  const files = new FileList();
  const defaultModel = name(element.default_model_slug) ?? null;
  const nodes: TreeNode[] = [];
  let lastInstructions: string | null = null;
  for (const [id, value] of Object.entries(element.mapping)) {
    const node = members(value);
    const message = members(node.message);
    lastInstructions ??= customInstructions(message);
    nodes.push({
      id,
      parentId: name(node.parent) ?? null,
      ...messageOf(message, { id, defaultModel, files, archive }),
    });
  }
  const { messages, activeId } = treeOf(nodes, name(element.current_node), createdAt);
  if (messages.length === 0) throw new ConversationRefused('it has no messages');
  const conversation: ReadConversation = {
    kind: 'conversation',
    source: 'chatgpt',
    sourceId: sourceId ?? `unnamed:${messages[0]?.sourceId}`,
    title: title(element.title),
    createdAt,
    updatedAt: time(element.update_time),
    archived: element.is_archived === true,
    instructions: null,
    parameters: {},
    projectId: projectOf(element),
    messages,
    activeId,
    files: files.files,
    notes: [...files.notes],
  };
  const about: ReadItem[] = lastInstructions === null ? [] : [{ kind: 'instructions', text: lastInstructions }];
  return [...projectItems(conversation), ...about, conversation];
}

type Context = { id: string; defaultModel: string | null; files: FileList; archive: ArchiveFiles };

function messageOf(message: Members, context: Context): Omit<TreeNode, 'id' | 'parentId'> {
  const author = members(message.author);
  const metadata = members(message.metadata);
  const role = text(author.role);
  const createdAt = time(message.create_time);
  const model = name(metadata.model_slug) ?? context.defaultModel;
  const hidden = { role: 'hidden', pieces: [], createdAt, model: null } as const;
  const type = text(members(message.content).content_type);
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return { ...hidden, pieces: [] };
  if (metadata.is_visually_hidden_from_conversation === true || metadata.is_user_system_message === true) {
    return { ...hidden, pieces: [] };
  }
  if (type === 'user_editable_context' || type === 'model_editable_context') return { ...hidden, pieces: [] };
  const pieces = contentOf(message, { ...context, createdAt });
  return { role: role === 'user' ? 'user' : 'assistant', pieces, createdAt, model };
}

/** The name of a project is not in the archive, only that conversations belong together. */
function projectOf({ gizmo_id: gizmo, conversation_template_id: template }: Members): string | null {
  const id = [template, gizmo].map((value) => name(value)).find((value) => value?.startsWith('g-p-'));
  return id ?? null;
}

function projectItems({ projectId, createdAt }: ReadConversation): ReadItem[] {
  if (projectId === null) return [];
  const short = projectId.slice('g-p-'.length, 'g-p-'.length + 6);
  const own = { sourceId: projectId, name: `ChatGPT project ${short}`, archived: false, instructions: null };
  return [{ kind: 'project', source: 'chatgpt', ...own, createdAt, files: [] }];
}

function customInstructions(message: Members): string | null {
  const content = members(message.content);
  if (content.content_type !== 'user_editable_context') return null;
  const data = members(members(message.metadata).user_context_message_data);
  const profile = text(data.about_user_message) || text(content.user_profile);
  const wishes = text(data.about_model_message) || text(content.user_instructions);
  return instructions([profile, wishes].filter((part) => part.trim() !== '').join('\n\n'));
}

/** Names of parts of one export that are not here, by its manifest. */
export function missingParts(manifest: unknown, entries: readonly string[]): string[] {
  const here = new Set(entries.map((entry) => entry.split('/').at(-1)));
  const named = items(members(manifest).export_files).map((file) => text(members(file).path));
  return named.filter((path) => /^(?:.*\/)?conversations[^/]*\.json$/.test(path) && !here.has(path.split('/').at(-1)));
}
