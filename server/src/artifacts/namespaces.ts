import { ApiError } from '@homeport/contracts/errors';
import { type RawBuilder, sql } from 'kysely';
import { assistantNotFound } from '../assistants/assistants.ts';
import { assertReadableFiles, lockFiles } from '../assistants/file-changes.ts';
import { conversationNotFound } from '../conversations/chats.ts';
import type { Queryable } from '../db/pool.ts';

/** How a request names a namespace: exactly one of the three. */
export type Scope = { chatId?: string; projectId?: string; assistantId?: string };

/** A namespace; `key` is the value of `artifacts.namespace`. */
export type Namespace = { type: 'chat' | 'project' | 'assistant'; id: string; key: string; isArchived: boolean };

/**
 * Reader of namespaces: `userId` sees those of their own standalone conversations, of their projects, and of the
 * assistants that they may use; an importing administrator (`anybody`) sees those of all conversations and projects.
 */
export type Reader = { userId: string } | 'anybody';

export function namespaceKey(type: Namespace['type'], id: string): string {
  return `${type}:${id}`;
}

/**
 * The namespace of a conversation, project or assistant; a conversation inside a project has the project's. A missing
 * one, someone else's, and one in a project that the reader is not a member of throw the same `not_found`.
 */
export async function getNamespace(db: Queryable, reader: Reader, scope: Scope): Promise<Namespace> {
  if (scope.assistantId !== undefined) return getAssistant(db, reader, scope.assistantId);
  if (scope.chatId === undefined) return getProject(db, reader, scope.projectId ?? '', sql``);
  return getChat(db, reader, scope.chatId, sql``, sql``);
}

/**
 * The same, with the row locked that owns the namespace: changes to its paths run one after the other, and it cannot
 * move. The conversation is locked before its project, as in moves. Throws `forbidden` for an assistant that the reader
 * may use but not edit.
 */
export async function lockNamespace(trx: Queryable, reader: Reader, scope: Scope): Promise<Namespace> {
  if (scope.assistantId !== undefined && reader !== 'anybody') {
    await lockFiles(trx, reader.userId, scope.assistantId);
    return getAssistant(trx, reader, scope.assistantId);
  }
  const lock = sql`for no key update`;
  if (scope.chatId === undefined) return getProject(trx, reader, scope.projectId ?? '', lock);
  return getChat(trx, reader, scope.chatId, sql`for no key update of c`, lock);
}

/** Throws if nothing new can be added to the namespace. */
export function assertNotArchived(namespace: Namespace): void {
  if (!namespace.isArchived) return;
  if (namespace.type !== 'chat') throw new ApiError('project_archived', 'Restore this project before adding files');
  throw new ApiError('conversation_archived', 'Restore this conversation before adding files');
}

type Sql = RawBuilder<unknown>;

async function getAssistant(db: Queryable, reader: Reader, id: string): Promise<Namespace> {
  if (reader === 'anybody') throw assistantNotFound();
  const isArchived = await assertReadableFiles(db, reader.userId, id);
  return { type: 'assistant', id, key: namespaceKey('assistant', id), isArchived };
}

async function getChat(
  db: Queryable,
  reader: Reader,
  chatId: string,
  lockChat: Sql,
  lockProject: Sql,
): Promise<Namespace> {
  const owner = reader === 'anybody' ? sql`` : sql`and c.owner_id = ${reader.userId}`;
  const { rows } = await sql<{ project_id: string | null; archived: boolean }>`
    select c.project_id, c.archived from chats c where c.id = ${chatId} ${owner} ${lockChat}`.execute(db);
  const chat = rows[0];
  if (chat === undefined) throw conversationNotFound();
  if (chat.project_id !== null) return getProject(db, reader, chat.project_id, lockProject);
  return { type: 'chat', id: chatId, key: namespaceKey('chat', chatId), isArchived: chat.archived };
}

async function getProject(db: Queryable, reader: Reader, projectId: string, lock: Sql): Promise<Namespace> {
  const member =
    reader === 'anybody'
      ? sql``
      : sql`and exists (select from project_members m where m.project_id = p.id and m.user_id = ${reader.userId})`;
  const { rows } = await sql<{ archived: boolean }>`
    select p.archived from projects p where p.id = ${projectId} ${member} ${lock}`.execute(db);
  const project = rows[0];
  if (project === undefined) throw new ApiError('not_found', 'Project not found');
  return { type: 'project', id: projectId, key: namespaceKey('project', projectId), isArchived: project.archived };
}
