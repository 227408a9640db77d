import { DatabaseSync } from 'node:sqlite';
import type { ArchiveFiles } from './archive-files.ts';
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
    const database = new DatabaseSync(path, { readOnly: true, allowExtension: false });
    database.exec('pragma trusted_schema = off; pragma query_only = on; pragma cell_size_check = on');
    return database;
  } catch (error) {
    throw new ImportRefused('The database cannot be opened.', { cause: error });
  }
}

type Tables = ReadonlyMap<string, ReadonlySet<string>>;

/** Ordinary tables with their columns: views and virtual tables could run anything. */
function tablesOf(database: DatabaseSync): Tables {
  const listed = database.prepare("select name, sql from sqlite_master where type = 'table'").all();
  const tables = new Map<string, Set<string>>();
  for (const row of listed) {
    const [table, definition] = [name(row.name), String(row.sql)];
    if (table === undefined || !/^\w+$/.test(table) || /^\s*create\s+virtual/i.test(definition)) continue;
    if (!['chat', 'chat_message', 'folder', 'user'].includes(table)) continue;
    const columns = database.prepare(`select name from pragma_table_info('${table}')`).all();
    tables.set(table, new Set(columns.map((column) => String(column.name))));
  }
  return tables;
}

/** Undefined where everything belongs to one person. */
function findUser(database: DatabaseSync, tables: Tables, email: string): string | undefined {
  if (!tables.has('user') || !tables.get('chat')?.has('user_id')) return undefined;
  const users = database.prepare('select id, email from "user" limit 100000').all();
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
  if (columns === undefined) return;
  const own = userId !== undefined && columns.has('user_id');
  const statement = database.prepare(
    `select * from "${table}" ${own ? 'where user_id = ?' : ''} limit ${importBounds.conversations}`,
  );
  yield* own ? statement.iterate(userId) : statement.iterate();
}

function readRow(row: Members, database: DatabaseSync, tables: Tables, archive: ArchiveFiles): ReadItem {
  const sourceId = name(row.id) ?? '';
  const own = { source: 'open-webui', sourceId, title: title(row.title) } as const;
  try {
    const content = typeof row.chat === 'string' ? row.chat : '';
    if (content.length > importBounds.elementBytes) throw new ConversationRefused('it is too large');
    const chat = content === '' ? {} : members(JSON.parse(content));
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

/** Newer versions keep each message in a row of its own. */
function messagesOf(chat: Members, database: DatabaseSync, tables: Tables): Members {
  if (!tables.get('chat_message')?.has('chat_id')) return {};
  const rows = database
    .prepare('select * from chat_message where chat_id = ? limit ?')
    .all(String(chat.id), importBounds.nodes + 1);
  const messages = Object.fromEntries(rows.map((row) => [String(row.id), parsed(row)]));
  return { currentId: chat.current_message_id, messages };
}

function parsed(row: Members): Members {
  const open = (value: unknown): unknown => {
    if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  };
  return {
    ...row,
    content: open(row.content),
    output: open(row.output),
    files: open(row.files),
    sources: open(row.sources),
  };
}
