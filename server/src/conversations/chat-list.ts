import type { ChatList } from '@homeport/contracts/chat/conversations';
import { limits } from '@homeport/contracts/limits';
import { afterText, decodeCursor, encodeCursor, pageOf } from '../db/keyset.ts';
import type { Platform } from '../platform.ts';
import { projectArchivedColumn } from '../projects/projects.ts';
import { type ChatRow, chatColumns, viewChat } from './chat-view.ts';

export type ListRequest = {
  archived?: boolean;
  projectId?: string;
  limit?: number;
  cursor?: string;
};

const afterPosition = (first: number) => `and ${afterText('c.updated_at', 'c.id', `$${first}`, `$${first + 1}`)}`;
const page = (where: string) =>
  `select ${chatColumns} from chats c where c.owner_id = $1 and c.archived = $2 and not c.temporary ${where}
   order by c.updated_at desc, c.id desc limit $3`;

// An archived project hides its conversations (control-plane-api.md "States and transitions"); if requested by its id,
// they are shown.
const inSidebar = `and not ${projectArchivedColumn('c.project_id')}`;

/** Named, so that each connection plans them once: every page of the client requests this list. */
export const listStatements = {
  first: { name: 'list-chats', text: page(inSidebar) },
  after: { name: 'list-chats-after', text: page(`${inSidebar} ${afterPosition(4)}`) },
  projectFirst: { name: 'list-project-chats', text: page('and c.project_id = $4') },
  projectAfter: { name: 'list-project-chats-after', text: page(`and c.project_id = $4 ${afterPosition(5)}`) },
};

const everyPage = (where: string) => {
  const some = (archived: boolean) =>
    `(select c.id from chats c where c.owner_id = $1 and c.archived = ${archived} and not c.temporary ${where}
      order by c.updated_at desc, c.id desc limit $2)`;
  return `with page as (${some(false)} union all ${some(true)})
    select ${chatColumns} from page p join chats c on c.id = p.id order by c.updated_at desc, c.id desc limit $2`;
};
const everyStatements = {
  first: { name: 'list-every-chat', text: everyPage('') },
  after: { name: 'list-every-chat-after', text: everyPage(afterPosition(3)) },
};

/**
 * One page of all conversations of an owner, archived ones and those of archived projects among them, newest activity
 * first.
 */
export async function listEveryChat(
  deps: Pick<Platform, 'db'>,
  ownerId: string,
  { limit = limits.pageDefault, cursor }: Pick<ListRequest, 'limit' | 'cursor'>,
): Promise<ChatList> {
  const position = cursor === undefined ? undefined : decodeCursor(cursor);
  const values: unknown[] = [ownerId, limit + 1];
  if (position !== undefined) values.push(position.micros, position.id);
  const statement = everyStatements[position === undefined ? 'first' : 'after'];
  return viewPage((await deps.db.pool.query<ChatRow>({ ...statement, values })).rows, limit);
}

/** One page of an owner's conversations, newest activity first. An index range scan, however many there are. */
export async function listChats(deps: Pick<Platform, 'db'>, ownerId: string, request: ListRequest): Promise<ChatList> {
  const { archived = false, projectId, limit = limits.pageDefault } = request;
  const position = request.cursor === undefined ? undefined : decodeCursor(request.cursor);
  const inProject = projectId !== undefined;
  const statement =
    listStatements[
      position === undefined ? (inProject ? 'projectFirst' : 'first') : inProject ? 'projectAfter' : 'after'
    ];
  const values: unknown[] = [ownerId, archived, limit + 1];
  if (inProject) values.push(projectId);
  if (position !== undefined) values.push(position.micros, position.id);
  const { rows } = await deps.db.pool.query<ChatRow>({ ...statement, values });
  return viewPage(rows, limit);
}

/** A page of `limit` rows, of which the caller fetched one more if there are more. */
export function viewPage(rows: readonly ChatRow[], limit: number): ChatList {
  const { shown, nextCursor } = pageOf(rows, limit, (last) => encodeCursor({ micros: last.updatedAt, id: last.id }));
  return { chats: shown.map(viewChat), nextCursor };
}
