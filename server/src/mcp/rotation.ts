import type { Database } from '../db/pool.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { resealMcpHeaders } from './credentials.ts';

/** The result of a rotation, counted in envelopes. */
export type McpRotation = { resealed: number; current: number; unreadable: number; interrupted: boolean };

/** Headers that no key opens; `owner` is an e-mail address. */
export type UnreadableMcpHeaders = { serverId: string; owner: string };

const batch = 100;

/** Seals the headers of all MCP servers again, while others may read and change them; see `resealProviders`. */
export async function resealMcpServers(
  deps: { db: Pick<Database, 'kysely'>; secrets: KeyRing },
  options: { signal: AbortSignal; onUnreadable(headers: UnreadableMcpHeaders): void; unboundOnly?: boolean },
): Promise<McpRotation> {
  const rotation: McpRotation = { resealed: 0, current: 0, unreadable: 0, interrupted: false };
  let after = '';
  for (;;) {
    const rows = await deps.db.kysely
      .selectFrom('mcp_servers')
      .innerJoin('users', 'users.id', 'mcp_servers.owner_id')
      .select(['mcp_servers.id', 'users.email'])
      .where('mcp_servers.headers', 'like', options.unboundOnly ? 'v1.%' : '%')
      .where('mcp_servers.id', '>', after)
      .orderBy('mcp_servers.id')
      .limit(batch)
      .execute();
    if (rows.length === 0) return rotation;
    for (const { id, email } of rows) {
      if (options.signal.aborted) return { ...rotation, interrupted: true };
      const state = await resealServer(deps, id);
      if (state !== 'absent') rotation[state] += 1;
      if (state === 'unreadable') options.onUnreadable({ serverId: id, owner: email });
      after = id;
    }
  }
}

/** One statement that does nothing if the envelope has changed since it was read; then it is read again. */
async function resealServer(deps: { db: Pick<Database, 'kysely'>; secrets: KeyRing }, id: string) {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const row = await deps.db.kysely
      .selectFrom('mcp_servers')
      .select(['id', 'owner_id', 'url', 'headers'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) return 'absent';
    const { state, envelope } = resealMcpHeaders(deps, row);
    if (state !== 'resealed') return state;
    const { numUpdatedRows } = await deps.db.kysely
      .updateTable('mcp_servers')
      .set({ headers: envelope })
      .where('id', '=', id)
      .where('owner_id', '=', row.owner_id)
      .where('url', '=', row.url)
      .where('headers', '=', row.headers)
      .executeTakeFirst();
    if (numUpdatedRows === 1n) return state;
  }
  throw new Error(`MCP server ${id} keeps changing; try again later`);
}
