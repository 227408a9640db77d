import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { messageOf } from './branches.ts';

/** Maximum number of messages of a branch to scan, and maximum length of one to count. */
const messagesMax = 500;
const bytesMax = 200_000;
const invocation = /^\s*\/([a-z0-9]+(?:-[a-z0-9]+)*)(?=\s|$)/;

/** The names that messages of the branch begin with, as in `/name …`: each once, the newest first. */
export async function readInvocations(
  db: Queryable,
  { chatId, leafId, stopBeforeId }: { chatId: string; leafId: string; stopBeforeId: string | null },
): Promise<string[]> {
  const { rows } = await sql<{ parts: string }>`
    with recursive branch as (
      select id, parent_id, 1 as depth from messages
      where id = ${leafId} and chat_id = ${chatId} and id is distinct from ${stopBeforeId}
      union all
      select m.id, m.parent_id, b.depth + 1 from branch b ${sql.raw(messageOf('b.parent_id'))}
      where b.depth < ${messagesMax} and m.id is distinct from ${stopBeforeId}
    )
    select m.parts from branch b ${sql.raw(messageOf('b.id'))}
    where m.role = 'user' and octet_length(m.parts) < ${bytesMax} and m.parts ~ '"text":"(\\\\[nt]| )*/[a-z0-9]'
    order by b.depth limit 20`.execute(db);
  return [...new Set(rows.flatMap(({ parts }) => nameIn(JSON.parse(parts))))];
}

function nameIn(parts: readonly { type: string; text?: string }[]): string[] {
  const text = parts.find((part) => part.type === 'text')?.text ?? '';
  const [, name] = invocation.exec(text) ?? [];
  return name === undefined ? [] : [name];
}
