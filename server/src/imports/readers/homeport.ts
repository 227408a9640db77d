import { finishDetailMax, messageFinishReasons } from '@homeport/contracts/chat/finish-reasons';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { limits } from '@homeport/contracts/limits';
import {
  ConversationRefused,
  importBounds,
  type ReadConversation,
  type ReadFile,
  type ReadMessage,
  type ReadProject,
  type ReadVersions,
} from './read-conversation.ts';
import { instructions, isMembers, items, json, type Members, members, name, text, time, title } from './values.ts';

/** Homeport's own export: of one conversation as JSON, or of everything a person has. */

const statuses = ['complete', 'stopped', 'failed', 'interrupted'] as const;
const versionMax = 1_000_000_000;
const partTypes = /^(text|reasoning|file|source-url|source-document|step-start|dynamic-tool|data-[\w-]{1,60})$/;

export function readHomeport(element: Members): ReadConversation {
  const chat = members(element.chat);
  const sourceId = name(chat.id);
  if (sourceId === undefined) throw new ConversationRefused('it has no id');
  const list = items(element.messages);
  if (list.length > importBounds.nodes)
    throw new ConversationRefused(`it has more than ${importBounds.nodes} messages`);
  const files = items(element.files).flatMap((file) => fileOf(members(file)));
  const places = new Map(files.map((file, place) => [file.sourceId, place]));
  const models = members(element.models);
  const messages = ordered(list.flatMap((value) => messageOf(members(value), { places, models })));
  const active = name(element.activeMessageId);
  return {
    kind: 'conversation',
    source: 'homeport',
    sourceId,
    title: title(chat.title),
    createdAt: time(chat.createdAt),
    updatedAt: time(chat.updatedAt),
    archived: chat.archived === true,
    instructions: instructions(chat.instructions),
    parameters: parametersOf(chat.parameters),
    projectId: name(chat.projectId) ?? null,
    messages,
    activeId: messages.some((message) => message.sourceId === active)
      ? (active ?? null)
      : (messages.at(-1)?.sourceId ?? null),
    files,
    notes: [],
  };
}

export function readHomeportProject(element: Members): ReadProject | undefined {
  const sourceId = name(element.id);
  if (sourceId === undefined) return undefined;
  return {
    kind: 'project',
    source: 'homeport',
    sourceId,
    name: name(element.name, 100) ?? 'Project',
    archived: element.archived === true,
    instructions: instructions(element.instructions),
    createdAt: time(element.createdAt),
    files: items(element.files).flatMap((file) => fileOf(members(file))),
  };
}

/** One file of a list in the export; none if it names no content. */
export function fileOf(file: Members): ReadFile[] {
  const [sourceId, path, entry] = [name(file.id), text(file.path), text(file.entry)];
  if (sourceId === undefined || path === '' || entry === '') return [];
  const mediaType = name(file.mediaType);
  const versions = versionsOf(file);
  const own = { sourceId, name: path, mediaType, createdAt: time(file.createdAt), content: { entry } };
  return [versions === undefined ? own : { ...own, versions }];
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= versionMax;
}

/** Versions are numbered from 1; those that are not below the one after them are none. */
function versionsOf(file: Members): ReadVersions | undefined {
  const present = file.version;
  if (!isVersion(present) || present < 2) return undefined;
  let below = present;
  const earlier: ReadVersions['earlier'] = [];
  for (const each of items(file.earlier).slice(0, limits.artifactVersionsKept).map(members)) {
    const { version } = each;
    const entry = text(each.entry);
    if (!isVersion(version) || version >= below || entry === '') continue;
    below = version;
    earlier.push({ version, mediaType: name(each.mediaType), createdAt: time(each.createdAt), content: { entry } });
  }
  return { present, changedAt: time(file.changedAt), earlier };
}

type Context = { places: ReadonlyMap<string, number>; models: Members };

function messageOf(message: Members, { places, models }: Context): ReadMessage[] {
  const sourceId = name(message.id);
  if (sourceId === undefined || (message.role !== 'user' && message.role !== 'assistant')) return [];
  const modelId = name(message.modelId);
  const error = members(message.error);
  const status =
    statuses.find((each) => each === message.status) ?? (message.status === 'streaming' ? 'interrupted' : 'complete');
  return [
    {
      sourceId,
      parentId: name(message.parentId) ?? null,
      role: message.role,
      parts: items(message.parts).flatMap((part) => storedPart(members(json(part)), places)),
      createdAt: time(message.createdAt),
      model: modelId === undefined ? null : (name(models[modelId]) ?? modelId),
      status,
      error: isMembers(message.error)
        ? { code: name(error.code) ?? 'provider_error', message: text(error.message) }
        : null,
      ...finishOf(message),
      usage: usageOf(message.usage),
    },
  ];
}

function finishOf({ role, finishReason, finishDetail }: Members): Pick<ReadMessage, 'finish'> {
  const reason = messageFinishReasons.find((each) => each === finishReason);
  if (reason === undefined || role !== 'assistant') return {};
  const detail = text(finishDetail).slice(0, finishDetailMax).toWellFormed();
  return { finish: { reason, detail: detail === '' ? null : detail } };
}

/** A part that the reader's client can show: known types with the members they need. */
function storedPart(part: Members, places: ReadonlyMap<string, number>): MessagePart[] {
  const type = text(part.type);
  if (!partTypes.test(type)) return [];
  if (type === 'text' || type === 'reasoning') return typeof part.text === 'string' ? [asPart(part)] : [];
  if (type === 'dynamic-tool') {
    const isTool = typeof part.toolName === 'string' && typeof part.toolCallId === 'string';
    return isTool
      ? [asPart(isSettled(part) ? part : { ...part, state: 'output-error', errorText: 'Not finished' })]
      : [];
  }
  if (type !== 'file') return [asPart(part)];
  const url = text(part.url);
  const id = /^artifact:\/\/([\w-]{1,128})$/.exec(url)?.[1];
  if (id === undefined) return url.startsWith('data:') ? [asPart(part)] : [];
  const place = places.get(id);
  return [asPart({ ...part, url: place === undefined ? `import-file:${id}` : `import:${place}` })];
}

function isSettled({ state, errorText }: Members): boolean {
  return state === 'output-available' || (state === 'output-error' && typeof errorText === 'string');
}

/** The caller has checked the type and the members it needs. */
function asPart(part: Members): MessagePart {
  return part as MessagePart;
}

/** Parents before their children; a parent that is missing, or comes in a circle, counts as none. */
function ordered(list: readonly ReadMessage[]): ReadMessage[] {
  const known = new Map(list.map((message) => [message.sourceId, message]));
  const done = new Set<string>();
  const result: ReadMessage[] = [];
  for (const start of known.values()) {
    const path: ReadMessage[] = [];
    const onPath = new Set<string>();
    for (let at: ReadMessage | undefined = start; at !== undefined && !done.has(at.sourceId); ) {
      path.push(at);
      onPath.add(at.sourceId);
      const parent: ReadMessage | undefined = at.parentId === null ? undefined : known.get(at.parentId);
      if (parent === undefined || onPath.has(parent.sourceId)) {
        if (parent !== undefined || at.parentId !== null) at.parentId = null;
        break;
      }
      at = parent;
    }
    for (const message of path.reverse()) {
      done.add(message.sourceId);
      result.push(message);
    }
  }
  return result;
}

function usageOf(usage: unknown): unknown {
  const counts = Object.entries(members(usage)).filter(
    ([, value]) => Number.isSafeInteger(value) && Number(value) >= 0,
  );
  return counts.length === 0 ? null : Object.fromEntries(counts.slice(0, 20));
}

function parametersOf(value: unknown): ReadConversation['parameters'] {
  const { temperature, topP } = members(value);
  return {
    ...(typeof temperature === 'number' && temperature >= 0 && temperature <= 2 ? { temperature } : {}),
    ...(typeof topP === 'number' && topP >= 0 && topP <= 1 ? { topP } : {}),
  };
}
