import type { Readable } from 'node:stream';
import { type ImportSource, importSources } from '@homeport/contracts/imports';
import { findJsonExcess } from '../../platform/json/json-scan.ts';
import { type Archive, PlainFile, type ZipArchive } from '../archive.ts';
import { ArchiveFiles } from './archive-files.ts';
import { readChatbotUi } from './chatbot-ui.ts';
import { missingParts, readChatGpt } from './chatgpt.ts';
import { readClaude, readClaudeProject } from './claude.ts';
import { parseCounted, parseJson } from './counted-json.ts';
import { readHomeport, readHomeportProject } from './homeport.ts';
import { readOwn } from './homeport-own.ts';
import { jsonElements } from './json-elements.ts';
import { readLibreChat } from './librechat.ts';
import { readOpenWebUi } from './open-webui.ts';
import { ConversationRefused, ImportRefused, importBounds, type ReadItem } from './read-conversation.ts';
import { instructions, isMembers, type Members, members, name, title } from './values.ts';

/**
 * Everything in an archive, whatever program made it: projects first, then conversations in the order of the archive.
 */

const sideFiles = new Set([
  ...[
    'user.json',
    'users.json',
    'user_settings.json',
    'export_manifest.json',
    'memories.json',
    'message_feedback.json',
  ],
  ...['model_comparisons.json', 'shared_conversations.json', 'conversation_asset_file_names.json', 'group_chats.json'],
  ...['shopping.json', 'sora.json', 'assistants.json', 'prompts.json'],
]);
/** Of an element that is not parsed. */
const headBytes = 8_192;
const unknown =
  'This is no export that Homeport knows. It reads those of ChatGPT, Claude, Open WebUI, LibreChat, chatbot-ui and Homeport.';

export async function* readArchive(archive: Archive, email: string): AsyncGenerator<ReadItem, void> {
  const files = new ArchiveFiles(archive.entries);
  if (archive instanceof PlainFile) {
    if (archive.kind === 'database') yield* await fromDatabase(archive.path, email, files);
    else if (!(yield* readJson(archive.read(), files, 'the file'))) throw new ImportRefused(unknown);
    return;
  }
  const base = (entry: string): string => entry.split('/').at(-1) ?? '';
  const sideFile = async (wanted: string): Promise<unknown> => {
    const entry = archive.entries.find((each) => base(each) === wanted);
    return entry === undefined
      ? undefined
      : parseCounted(await archive.readWhole(entry, importBounds.sideFileBytes), importBounds.sideJson);
  };
  files.learnNames(members(await sideFile('conversation_asset_file_names.json')));
  for (const part of missingParts(await sideFile('export_manifest.json'), archive.entries).slice(0, 20)) {
    yield {
      kind: 'note',
      message: `${part} is not in this archive: it is in another part of the same export. Import that part, too.`,
    };
  }
  if (archive.entries.some((entry) => base(entry) === 'memories.json')) {
    yield { kind: 'note', message: 'Memories are not imported. Copy what matters into your instructions.' };
  }
  const homeport = members(await sideFile('homeport.json'));
  const about = instructions(members(homeport.user).instructions);
  if (about !== null) yield { kind: 'instructions', text: about };
  let isKnown = homeport.format === 'homeport-export';
  if (isKnown) yield* readOwn(archive);
  for (const entry of inOrder(archive)) isKnown = (yield* readEntry(archive, entry, files)) || isKnown;
  if (!isKnown) throw new ImportRefused(unknown);
}

function inOrder(archive: ZipArchive): string[] {
  const json = archive.entries.filter((entry) => {
    const last = entry.split('/').at(-1) ?? '';
    return (
      last.endsWith('.json') &&
      last !== 'homeport.json' &&
      !sideFiles.has(last) &&
      !/^([^/]+\/)?(files|skills)\//.test(entry)
    );
  });
  const rank = (entry: string): number => (/(^|\/)projects(\/|\.json$)/.test(entry) ? 0 : 1);
  return json.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Returns whether it holds something that is known. A damaged entry does not end the import. */
async function* readEntry(archive: ZipArchive, entry: string, files: ArchiveFiles): AsyncGenerator<ReadItem, boolean> {
  try {
    return yield* readJson(await archive.read(entry), files, entry);
  } catch (error) {
    if (error instanceof ImportRefused) throw error;
    yield { kind: 'note', message: `${shown(entry)} is damaged; what follows in it was left out.` };
    return true;
  }
}

async function* readJson(stream: Readable, files: ArchiveFiles, from: string): AsyncGenerator<ReadItem, boolean> {
  let source: ImportSource | undefined;
  let strange = 0;
  let place = -1;
  try {
    for await (const element of jsonElements(stream, importBounds.elementBytes)) {
      place += 1;
      if (place >= importBounds.conversations) {
        yield {
          kind: 'note',
          message: `${shown(from)} has more than ${importBounds.conversations} entries; the rest was left out.`,
        };
        break;
      }
      if (element.kind === 'cut') {
        yield { kind: 'note', message: `${shown(from)} ends in the middle; what is missing was left out.` };
        return true;
      }
      if (element.kind === 'too-large') {
        const found = headFacts(element.head);
        const size = importBounds.elementBytes / 1024 / 1024;
        yield {
          kind: 'left-out',
          source: source ?? found.source,
          ...found.facts,
          reason: `it is larger than ${size} MiB`,
        };
        source ??= found.source;
        continue;
      }
      const excess = findJsonExcess(element.bytes, importBounds.json);
      if (excess !== undefined) {
        const found = headFacts(element.bytes.subarray(0, headBytes));
        const own = { ...found.facts, source: source ?? found.source };
        yield { kind: 'left-out', ...own, reason: `it is JSON ${excess.reason}` };
        source ??= found.source;
        continue;
      }
      const items = readElement(parseJson(element.bytes), files, place);
      if (items === undefined) strange += 1;
      for (const item of items ?? []) {
        if ('source' in item) source ??= item.source;
        yield item;
      }
    }
  } finally {
    stream.destroy();
  }
  if (source !== undefined && strange > 0) {
    yield {
      kind: 'note',
      message: `${shown(from)} has ${strange} entries that are no conversations; they were left out.`,
    };
  }
  return source !== undefined;
}

/** Undefined for what is no conversation, project or history. */
function readElement(value: unknown, files: ArchiveFiles, place: number): Iterable<ReadItem> | undefined {
  if (!isMembers(value)) return undefined;
  const source = sourceOf(value);
  if (source === undefined) {
    if (isClaudeProject(value)) return only(readClaudeProject(value));
    return isHomeportProject(value) ? only(readHomeportProject(value)) : undefined;
  }
  try {
    // In a list, so that an error of a lazy reader is caught here.
    return [...readers[source].read(value, files)];
  } catch (error) {
    const own = { source, sourceId: idOf(value) ?? `entry-${place}`, title: titleOf(value) } as const;
    if (error instanceof ConversationRefused) return [{ kind: 'left-out', ...own, reason: error.message }];
    if (error instanceof RangeError || error instanceof TypeError) {
      return [{ kind: 'left-out', ...own, reason: 'its content is damaged' }];
    }
    throw error;
  }
}

const only = (item: ReadItem | undefined): Iterable<ReadItem> => (item === undefined ? [] : [item]);

type Reader = { isOwn(value: Members): boolean; read(value: Members, files: ArchiveFiles): Iterable<ReadItem> };

/** Detection and reading of each program's conversations. A program that is missing here does not compile. */
const readers: Readonly<Record<ImportSource, Reader>> = {
  chatgpt: { isOwn: (value) => 'mapping' in value, read: readChatGpt },
  claude: { isOwn: (value) => 'chat_messages' in value, read: (value) => [readClaude(value)] },
  librechat: {
    isOwn: (value) => 'conversationId' in value && ('messages' in value || 'messagesTree' in value),
    read: (value) => [readLibreChat(value)],
  },
  homeport: {
    isOwn: (value) => 'activeMessageId' in value && Array.isArray(value.messages) && isMembers(value.chat),
    read: (value) => [readHomeport(value)],
  },
  'open-webui': { isOwn: isOpenWebUi, read: (value, files) => [readOpenWebUi(value, files)] },
  'chatbot-ui': { isOwn: (value) => Array.isArray(value.history) && 'version' in value, read: readChatbotUi },
};

function isOpenWebUi(value: Members): boolean {
  const chat = members(value.chat);
  return isMembers(chat.history) || Array.isArray(chat.messages) || isMembers(members(value.history).messages);
}

function sourceOf(value: Members): ImportSource | undefined {
  const source = importSources.find((each) => readers[each].isOwn(value));
  // Damaged, but known by its other members.
  if (source === undefined && 'create_time' in value && 'current_node' in value) return 'chatgpt';
  return source;
}

const isClaudeProject = (value: Members): boolean =>
  'uuid' in value && ('prompt_template' in value || Array.isArray(value.docs));
const isHomeportProject = (value: Members): boolean => value.format === 'homeport-project';

const idOf = (value: Members): string | undefined =>
  name(value.conversation_id) ??
  name(value.conversationId) ??
  name(value.uuid) ??
  name(value.id) ??
  name(members(value.chat).id);
const titleOf = (value: Members): string => title(value.title ?? value.name ?? members(value.chat).title);

/** Source, id and title of a conversation that is too large to be read, from its first bytes. */
function headFacts(head: Buffer): { source: ImportSource; facts: { sourceId: string; title: string } } {
  const start = head.toString('utf8');
  const member = (key: string): string | undefined =>
    new RegExp(`"${key}"\\s*:\\s*"((?:[^"\\\\]|\\\\.){1,200})"`).exec(start)?.[1];
  const source = start.includes('"chat_messages"') ? 'claude' : start.includes('"chat"') ? 'open-webui' : 'chatgpt';
  const sourceId = member('conversation_id') ?? member('uuid') ?? member('id') ?? 'unnamed';
  return { source, facts: { sourceId, title: title(member('title') ?? member('name')) } };
}

const shown = (entry: string): string => (entry === 'the file' ? 'The file' : entry.slice(-100));

async function fromDatabase(path: string, email: string, files: ArchiveFiles): Promise<Iterable<ReadItem>> {
  const { readOpenWebUiDatabase } = await import('./open-webui-database.ts');
  return readOpenWebUiDatabase(path, email, files);
}
