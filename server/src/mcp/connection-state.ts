import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { Challenge } from './oauth/protocol.ts';
import type { McpServerRow } from './views.ts';

/** Whether a server asks for sign-in, and whether its owner has signed in: with servers.ts the writer of both. */

type Asked = Pick<McpServerRow, 'id' | 'revision'>;

/** Records that the server requires sign-in, with its challenge. Deletes the tokens that it refused. */
export async function recordSignInNeeded(db: Queryable, asked: Asked, wanted: Challenge): Promise<void> {
  const text = JSON.stringify(wanted);
  await sql`
    with server as (
      update mcp_servers set connection = 'needed' where id = ${asked.id} and revision = ${asked.revision} returning id)
    insert into mcp_grants (server_id, wanted) select id, ${text}::jsonb from server
    on conflict (server_id) do update set wanted = excluded.wanted`.execute(db);
}

/** Records that a call needs more scopes than the sign-in has; everything else still works. */
export async function recordScopeWanted(db: Queryable, asked: Asked, wanted: Challenge): Promise<void> {
  await db
    .updateTable('mcp_grants')
    .set({ wanted: JSON.stringify(wanted) })
    .where('server_id', '=', asked.id)
    .execute();
}

/**
 * Sets the connection state and returns the new row; undefined if the server has changed since. Open connections are
 * not reused.
 */
export async function recordConnection(
  db: Queryable,
  asked: Asked,
  change: { connection: McpServerRow['connection']; client_issuer?: string },
): Promise<McpServerRow | undefined> {
  return db
    .updateTable('mcp_servers')
    .set({ ...change, revision: asked.revision + 1, updated_at: sql`now()` })
    .where('id', '=', asked.id)
    .where('revision', '=', asked.revision)
    .returningAll()
    .executeTakeFirst();
}
