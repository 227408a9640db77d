import { ApiError } from '@homeport/contracts/errors';
import { type Task, TaskRefused } from '../../sandbox/serve.ts';
import { type ParsedManifest, validateManifest } from './manifest.ts';
import type { Batch, BatchKind, ManifestInput, Question } from './manifest-reader.ts';
import { conversationRows } from './manifest-rows.ts';
import { parseManifestText } from './manifest-text.ts';

const batchBytes = 1_000_000;
const batchItems = 500;

/** Reads one manifest in a child process: it parses and validates everything, then hands it out in batches. */
export const manifestTask: Task = async (given) => {
  const { bytes, form, edition } = given as ManifestInput;
  try {
    const manifest = validateManifest(parseManifestText(bytes, form), edition);
    return {
      opened: manifest.head,
      ask: (question) => {
        const { kind, from } = question as Question;
        return batchOf(manifest, kind, from);
      },
    };
  } catch (error) {
    if (error instanceof ApiError) {
      const { code, message, details } = error;
      throw new TaskRefused({ code, message, details });
    }
    if (!(error instanceof RangeError)) throw error;
    throw new TaskRefused({ code: 'invalid_request', message: 'The manifest is nested too deeply' });
  }
};

/** As many items from `from` as fit a batch; `next` is where the following one begins, null at the end. */
function batchOf(manifest: ParsedManifest, kind: BatchKind, from: number): Batch {
  const batch: Batch = { users: [], catalogues: [], assistants: [], prompts: [], chats: [], messages: [], next: null };
  const total = manifest[kind === 'catalogues' ? 'users' : kind].length;
  let index = from;
  for (let size = 0; index < total && index < from + batchItems && size < batchBytes; index += 1) {
    size += addItem(manifest, kind, index, batch);
  }
  batch.next = index < total ? index : null;
  return batch;
}

/** Returns about how many bytes it adds. */
function addItem(manifest: ParsedManifest, kind: BatchKind, index: number, batch: Batch): number {
  if (kind === 'conversations') return addConversation(manifest, index, batch);
  if (kind === 'users' || kind === 'catalogues') return addUser(manifest, index, kind, batch);
  const [assistant, prompt] = [manifest.assistants[index], manifest.prompts[index]];
  if (kind === 'assistants' && assistant !== undefined) {
    batch.assistants.push({ ...assistant, index });
    return 1000 + (assistant.instructions?.length ?? 0) + (assistant.icon?.length ?? 0);
  }
  if (kind === 'prompts' && prompt !== undefined) batch.prompts.push({ ...prompt, index });
  return 500 + (prompt?.text.length ?? 0);
}

function addConversation({ conversations }: ParsedManifest, index: number, batch: Batch): number {
  const conversation = conversations[index];
  if (conversation === undefined) return 0;
  const { chat, messages } = conversationRows(conversation, index);
  batch.chats.push(chat);
  for (const message of messages) batch.messages.push(message);
  return messages.reduce((size, { parts, words }) => size + 200 + parts.length + words.length, 0);
}

function addUser({ users }: ParsedManifest, index: number, kind: BatchKind, batch: Batch): number {
  const user = users[index];
  if (user === undefined) return 0;
  const { modelTiers, providers, ...account } = user;
  if (kind === 'users') {
    batch.users.push({ index, ...account });
    return 500;
  }
  if (modelTiers === undefined && providers === undefined) return 0;
  batch.catalogues.push({ path: `users.${index}.`, email: account.email, modelTiers, providers });
  return (providers ?? []).reduce((size, provider) => size + 500 + provider.models.length * 500, 500);
}
