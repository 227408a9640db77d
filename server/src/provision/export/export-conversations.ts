import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { ManifestConversation } from '@homeport/contracts/provision/manifest';
import { sql } from 'kysely';
import type { Queryable } from '../../db/pool.ts';
import type { OnLoss } from './export.ts';

/** Conversations as parts of a manifest, each with its active branch, in one snapshot (contract.md section 10). */

const pageSize = 500;
/** How much one statement reads of messages; a larger conversation is read alone. */
const batchBytes = 8 * 1024 * 1024;

type ChatRow = {
  id: string;
  ownerEmail: string;
  title: string;
  archived: boolean;
  created_at: Date;
  projectId: string | null;
  instructions: string | null;
  parameters: Parameters;
};
type SizedChat = ChatRow & { total: number; bytes: number };
type MessageRow = { chat_id: string; id: string; role: 'user' | 'assistant'; parts: string; created_at: Date };

/** All conversations, oldest first. `db` is a transaction. */
export async function* exportConversations(db: Queryable, onLoss: OnLoss): AsyncGenerator<ManifestConversation, void> {
  const lost = { branches: 0, projects: 0 };
  for await (const page of readPages(db)) {
    for (const batch of batchesOf(await withSizes(db, page))) {
      const branches = await readBranches(
        db,
        batch.map(({ id }) => id),
      );
      for (const { created_at, projectId, instructions, parameters, total, bytes: _, ...chat } of batch) {
        const messages = branches.get(chat.id) ?? [];
        if (messages.length < total) lost.branches += 1;
        if (projectId !== null) lost.projects += 1;
        yield {
          ...chat,
          createdAt: created_at.toISOString(),
          ...(instructions === null ? {} : { instructions }),
          ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
          messages,
        };
        branches.delete(chat.id);
      }
    }
  }
  const deleted = await countOfDeleted(db);
  if (deleted > 0) onLoss(`${deleted} conversations belong to deleted accounts and were left out`);
  if (lost.branches > 0)
    onLoss(`${lost.branches} conversations have other branches: only the one that is shown was exported`);
  if (lost.projects > 0) onLoss(`${lost.projects} conversations are in projects, which a manifest cannot describe`);
}

async function countOfDeleted(db: Queryable): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from users u join chats c on c.owner_id = u.id
    where u.deleted_at is not null and not c.temporary`.execute(db);
  return rows[0]?.count ?? 0;
}

/** A cursor sorts once, however many pages there are. */
async function* readPages(db: Queryable): AsyncGenerator<ChatRow[], void> {
  // Times in a manifest have milliseconds; sorting by them gives an export of imported data the same order.
  await sql`
    declare exported_chats no scroll cursor for
      select c.id, u.email as "ownerEmail", c.title, c.archived, date_trunc('milliseconds', c.created_at) as created_at,
        c.project_id as "projectId", c.instructions, c.parameters
      from chats c join users u on u.id = c.owner_id where not c.temporary and u.deleted_at is null
      order by date_trunc('milliseconds', c.created_at), c.id`.execute(db);
  for (;;) {
    const { rows } = await sql<ChatRow>`fetch ${sql.lit(pageSize)} from exported_chats`.execute(db);
    if (rows.length === 0) break;
    yield rows;
  }
  await sql`close exported_chats`.execute(db);
}

async function withSizes(db: Queryable, chats: readonly ChatRow[]): Promise<SizedChat[]> {
  const ids = chats.map(({ id }) => id);
  const { rows } = await sql<{ chat_id: string; total: number; bytes: number }>`
    select chat_id, count(*) as total, sum(octet_length(parts)) as bytes
    from messages where chat_id = any(${ids}) group by chat_id`.execute(db);
  const sizes = new Map(rows.map((row) => [row.chat_id, row]));
  return chats.map((chat) => ({
    ...chat,
    total: sizes.get(chat.id)?.total ?? 0,
    bytes: sizes.get(chat.id)?.bytes ?? 0,
  }));
}

function* batchesOf(chats: readonly SizedChat[]): Generator<SizedChat[], void> {
  let batch: SizedChat[] = [];
  let bytes = 0;
  for (const chat of chats) {
    if (batch.length > 0 && bytes + chat.bytes > batchBytes) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(chat);
    bytes += chat.bytes;
  }
  if (batch.length > 0) yield batch;
}

async function readBranches(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, ManifestConversation['messages']>> {
  const { rows } = await sql<MessageRow>`
    with recursive branch as (
      select c.id as chat_id, m.id, m.parent_id, 1 as depth
      from chats c join messages m on m.id = c.active_message_id and m.chat_id = c.id
      where c.id = any(${chatIds})
      union all
      select b.chat_id, m.id, m.parent_id, b.depth + 1 from branch b join messages m on m.id = b.parent_id
    )
    select b.chat_id, m.id, m.role, m.parts, m.created_at from branch b join messages m on m.id = b.id
    order by b.chat_id, b.depth desc`.execute(db);
  const branches = new Map<string, ManifestConversation['messages']>();
  for (const { chat_id, id, role, parts, created_at } of rows) {
    const branch = branches.get(chat_id) ?? [];
    branch.push({ id, role, parts: JSON.parse(parts), createdAt: created_at.toISOString() });
    branches.set(chat_id, branch);
  }
  return branches;
}
