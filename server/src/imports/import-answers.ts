import { finishDetailMax, messageFinishReasons } from '@homeport/contracts/chat/finish-reasons';
import { parameters } from '@homeport/contracts/chat/parameters';
import { importSources } from '@homeport/contracts/imports';
import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';
import type { ImportedMessage } from '../conversations/messages.ts';
import type { PreparedItem } from './prepare.ts';
import { importBounds } from './readers/read-conversation.ts';

/**
 * Validation of items that a child process read. A malicious archive can have taken over that process, so its answers
 * are untrusted; ids can't reach other users' rows because every statement that uses them names the owner.
 */

const id = z.string().min(1).max(300);
const time = z.string().max(40).nullable();
const notes = z.array(z.string()).max(2_000);
const source = z.enum(importSources);
const content = z.union([z.object({ entry: z.string() }), z.object({ bytes: z.instanceof(Uint8Array<ArrayBuffer>) })]);
const mediaType = z.string().optional();
const file = z.object({
  id,
  name: z.string(),
  mediaType,
  createdAt: time,
  content,
  versions: z
    .object({
      present: z.number().int(),
      changedAt: time,
      earlier: z.array(z.object({ version: z.number().int(), mediaType, createdAt: time, content })).max(10_000),
    })
    .optional(),
});
const files = z.array(file).max(importBounds.filesPerConversation);
const message = z.object({
  n: z.number().int(),
  place: z.number().int(),
  id,
  parentId: id.nullable(),
  role: z.enum(['user', 'assistant']),
  parts: z.string(),
  words: z.string(),
  createdAt: time,
  status: z.enum(['complete', 'stopped', 'failed', 'interrupted']).optional(),
  error: z.object({ code: z.string(), message: z.string() }).nullable().optional(),
  finishReason: z.enum(messageFinishReasons).nullable().optional(),
  finishDetail: z.string().max(finishDetailMax).nullable().optional(),
  modelId: z.string().nullable().optional(),
  usage: z.unknown().optional(),
});
const conversation = z.object({
  kind: z.literal('conversation'),
  source,
  sourceId: z.string(),
  chat: z.object({
    id,
    title: z.string(),
    words: z.string(),
    archived: z.boolean(),
    activeMessageId: id.nullable(),
    createdAt: time,
    updatedAt: time,
    instructions: z.string().nullable(),
    parameters,
    projectId: id.nullable().optional(),
  }),
  messages: z.array(z.never()).max(0),
  files,
  notes,
});
const project = z.object({
  kind: z.literal('project'),
  source,
  id,
  name: z.string(),
  archived: z.boolean(),
  instructions: z.string().nullable(),
  createdAt: time,
  files,
});
const own = { id, source, sourceId: z.string(), title: z.string(), notes };
const fields = z.record(z.string(), z.unknown());
const item = z.discriminatedUnion('kind', [
  conversation,
  project,
  z.object({ kind: z.literal('prompt'), ...own, fields }),
  z.object({ kind: z.literal('assistant'), ...own, fields, files: files.max(limits.assistantFilesMax) }),
  z.object({
    kind: z.literal('skill'),
    ...own,
    files: z.array(z.object({ entry: z.string(), path: z.string() })).max(10_000),
  }),
  z.object({ kind: z.literal('left-out'), source, sourceId: z.string(), title: z.string(), reason: z.string() }),
  z.object({ kind: z.literal('note'), message: z.string() }),
  z.object({ kind: z.literal('instructions'), text: z.string() }),
]);

/** Undefined if it is none. A conversation comes without its messages. */
export function checkItem(value: unknown): PreparedItem | undefined {
  return item.safeParse(value).data as PreparedItem | undefined;
}

const messages = z.object({ messages: z.array(message) });

/** Messages of this conversation, and of no other. */
export function checkMessages(value: unknown, chatId: string): ImportedMessage[] | undefined {
  const { data } = messages.safeParse(value);
  return data?.messages.map((each) => ({ ...each, chatId })) as ImportedMessage[] | undefined;
}
