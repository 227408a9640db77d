import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { findJsonExcess } from '../../platform/json/json-scan.ts';
import type { ArchiveFiles } from './archive-files.ts';
import { parseCounted } from './counted-json.ts';
import { readOpenWebUi } from './open-webui.ts';
import { ConversationRefused, ImportRefused, importBounds, type ReadItem } from './read-conversation.ts';
import { type Members, members, name, title } from './values.ts';

/** The database of an Open WebUI installation: the conversations of the one user whose address the reader has. */
export function* readOpenWebUiDatabase(path: string, email: string, archive: ArchiveFiles): Generator<ReadItem, void> {
  const database = openReadOnly(path);
  try {
    const tables = tablesOf(database);
    const chats = tables.get('chat');
    if (chats === undefined) throw new ImportRefused('This database has no conversations of Open WebUI.');
    const userId = findUser(database, tables, email);
    for (const row of select(database, 'folder', tables, userId)) {
      const sourceId = name(row.id);
      if (sourceId === undefined) continue;
      const own = { sourceId, name: name(row.name, 100) ?? 'Folder', archived: false, instructions: null };
      yield { kind: 'project', source: 'open-webui', ...own, createdAt: null, files: [] };
    }
    for (const row of select(database, 'chat', tables, userId)) yield readRow(row, database, tables, archive);
  } catch (error) {
    if (error instanceof ImportRefused) throw error;
    throw new ImportRefused('The database is damaged or was copied while it was being written.', { cause: error });
  } finally {
    database.close();
  }
}

function openReadOnly(path: string): DatabaseSync {
  try {
    // Immutable: no journal beside it is looked for, and nothing is locked or written.
    const address = new URL(`${pathToFileURL(path).href}?immutable=1`);
    const database = new DatabaseSync(address, { readOnly: true, allowExtension: false });
    database.exec('pragma trusted_schema = off; pragma query_only = on; pragma cell_size_check = on');
    return database;
  } catch (error) {
    throw new ImportRefused('The database cannot be opened.', { cause: error });
  }
}

/** The columns that are read, as far as there are any, and no others. */
const readColumns = {
  chat: [
    ...['id', 'user_id', 'title', 'chat', 'created_at', 'updated_at', 'archived', 'folder_id'],
    'current_message_id',
  ],
  chat_message: [
    ...['id', 'chat_id', 'parentId', 'parent_id', 'role', 'content', 'output', 'files', 'sources', 'error'],
    ...['timestamp', 'created_at', 'modelName', 'model', 'model_id'],
  ],
  folder: ['id', 'user_id', 'name'],
  user: ['id', 'email'],
} as const;
type TableName = keyof typeof readColumns;
type Tables = ReadonlyMap<TableName, ReadonlySet<string>>;

const schemaMax = 5_000;
const columnsMax = 200;

/**
 * Ordinary tables with the columns that are read: views and virtual tables could run anything, and so could a column
 * that is computed when it is read.
 */
function tablesOf(database: DatabaseSync): Tables {
  const listed = database.prepare(`select name, type from pragma_table_list where schema = 'main' limit ${schemaMax}`);
  const kinds = new Map(listed.all().map((row) => [String(row.name).toLowerCase(), String(row.type)]));
  const tables = new Map<TableName, Set<string>>();
  for (const table of ['chat', 'chat_message', 'folder', 'user'] as const) {
    const kind = kinds.get(table);
    if (kind === undefined) continue;
    if (kind !== 'table') throw computed(table);
    const columns = database
      .prepare(`select name, hidden from pragma_table_xinfo('${table}') limit ${columnsMax}`)
      .all();
    if (columns.some(({ hidden }) => hidden !== 0)) throw computed(table);
    const names = new Set(columns.map((column) => String(column.name)));
    tables.set(table, new Set(readColumns[table].filter((column) => names.has(column))));
  }
  return tables;
}

function computed(table: string): ImportRefused {
  return new ImportRefused(`The table “${table}” of this database is computed and is not read.`);
}

/** The columns of a table, quoted. */
function columnsOf(tables: Tables, table: TableName): string {
  return [...(tables.get(table) ?? [])].map((column) => `"${column}"`).join(', ');
}

/** Undefined where everything belongs to one person. */
function findUser(database: DatabaseSync, tables: Tables, email: string): string | undefined {
  const columns = tables.get('user');
  if (!columns?.has('id') || !columns.has('email') || !tables.get('chat')?.has('user_id')) return undefined;
  const users = database.prepare('select "id", "email" from main."user" limit 100000').all();
  if (users.length <= 1) return undefined;
  const own = users.find((user) => String(user.email).toLowerCase() === email.toLowerCase());
  if (own === undefined) {
    throw new ImportRefused(
      `The database belongs to ${users.length} people, and none of them has your address ${email}.`,
    );
  }
  return String(own.id);
}

function* select(database: DatabaseSync, table: 'chat' | 'folder', tables: Tables, userId: string | undefined) {
  const columns = tables.get(table);
  if (columns === undefined || columns.size === 0) return;
  const own = userId !== undefined && columns.has('user_id');
  const statement = database.prepare(
    `select ${columnsOf(tables, table)} from main."${table}" ${own ? 'where user_id = ?' : ''} limit ${importBounds.conversations}`,
  );
  yield* own ? statement.iterate(userId) : statement.iterate();
}

function readRow(row: Members, database: DatabaseSync, tables: Tables, archive: ArchiveFiles): ReadItem {
  const sourceId = name(row.id) ?? '';
  const own = { source: 'open-webui', sourceId, title: title(row.title) } as const;
  try {
    const content = typeof row.chat === 'string' ? row.chat : '';
    if (content.length > importBounds.elementBytes) throw new ConversationRefused('it is too large');
    const chat = content === '' ? {} : members(chatOf(content));
    const history = members(chat.history);
    const isEmpty = Object.keys(members(history.messages)).length === 0 && chat.messages === undefined;
    const full = isEmpty ? { ...chat, history: messagesOf(row, database, tables) } : chat;
    return readOpenWebUi({ ...row, chat: full }, archive);
  } catch (error) {
    if (error instanceof ConversationRefused) return { kind: 'left-out', ...own, reason: error.message };
    if (error instanceof SyntaxError) return { kind: 'left-out', ...own, reason: 'its content is damaged' };
    throw error;
  }
}

/** Throws SyntaxError for what is no JSON, ConversationRefused for what is too expensive to parse. */
function chatOf(content: string): unknown {
  const excess = findJsonExcess(Buffer.from(content), importBounds.json);
  if (excess !== undefined) throw new ConversationRefused(`it is JSON ${excess.reason}`);
  return JSON.parse(content);
}

/** Newer versions keep each message in a row of its own. */
function messagesOf(chat: Members, database: DatabaseSync, tables: Tables): Members {
  if (!tables.get('chat_message')?.has('chat_id')) return {};
  const rows = database
    .prepare(`select ${columnsOf(tables, 'chat_message')} from main.chat_message where "chat_id" = ? limit ?`)
    .all(String(chat.id), importBounds.nodes + 1);
  const messages = Object.fromEntries(rows.map((row) => [String(row.id), parsed(row)]));
  return { currentId: chat.current_message_id, messages };
}

function parsed(row: Members): Members {
  const open = (value: unknown): unknown => {
    if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
    return parseCounted(Buffer.from(value), importBounds.sideJson) ?? value;
  };
  return {
    ...row,
    content: open(row.content),
    output: open(row.output),
    files: open(row.files),
    sources: open(row.sources),
  };
}
