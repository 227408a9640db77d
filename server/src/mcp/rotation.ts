import type { Database, Queryable } from '../db/pool.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Resealed } from '../secrets/reseal.ts';
import { resealClientSecret, resealMcpEnv, resealMcpHeaders } from './credentials.ts';
import { resealGrant } from './oauth/grants.ts';

/** The result of a rotation, counted in envelopes. */
export type McpRotation = { resealed: number; current: number; unreadable: number; interrupted: boolean };

/** A credential that no key opens; `owner` is an e-mail address. */
export type UnreadableMcpHeaders = { serverId: string; owner: string; kind: Kind };

type Kind = 'headers' | 'env' | 'client_secret' | 'envelope';
/** Kinds of sealed values of a server, stored in its own row or in that of its grant. */
const kinds: readonly Kind[] = ['headers', 'env', 'client_secret', 'envelope'];

const batch = 100;

/** Seals the credentials of all MCP servers again, while others may read and change them; see `resealProviders`. */
export async function resealMcpServers(
  deps: { db: Pick<Database, 'kysely'>; secrets: KeyRing },
  options: { signal: AbortSignal; onUnreadable(headers: UnreadableMcpHeaders): void; unboundOnly?: boolean },
): Promise<McpRotation> {
  const rotation: McpRotation = { resealed: 0, current: 0, unreadable: 0, interrupted: false };
  const pattern = options.unboundOnly ? 'v1.%' : '%';
  let after = '';
  for (;;) {
    const rows = await deps.db.kysely
      .selectFrom('mcp_servers')
      .innerJoin('users', 'users.id', 'mcp_servers.owner_id')
      .leftJoin('mcp_grants', 'mcp_grants.server_id', 'mcp_servers.id')
      .select(['mcp_servers.id', 'users.email'])
      .where((row) =>
        row.or([
          row('mcp_servers.headers', 'like', pattern),
          row('mcp_servers.env', 'like', pattern),
          row('mcp_servers.client_secret', 'like', pattern),
          row('mcp_grants.envelope', 'like', pattern),
        ]),
      )
      .where('mcp_servers.id', '>', after)
      .orderBy('mcp_servers.id')
      .limit(batch)
      .execute();
    if (rows.length === 0) return rotation;
    for (const { id, email } of rows) {
      if (options.signal.aborted) return { ...rotation, interrupted: true };
      for (const kind of kinds) {
        const state = await resealServer(deps, id, kind);
        if (state !== 'absent') rotation[state] += 1;
        if (state === 'unreadable') options.onUnreadable({ serverId: id, owner: email, kind });
      }
      after = id;
    }
  }
}

/** One statement that does nothing if the envelope has changed since it was read; then it is read again. */
async function resealServer(deps: { db: Pick<Database, 'kysely'>; secrets: KeyRing }, id: string, kind: Kind) {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const row = await deps.db.kysely
      .selectFrom('mcp_servers')
      .leftJoin('mcp_grants', 'mcp_grants.server_id', 'mcp_servers.id')
      .select(['id', 'owner_id', 'url', 'headers', 'env', 'client_secret', 'envelope'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) return 'absent';
    const { state, envelope } = resealed(deps, row, kind);
    if (state !== 'resealed') return state;
    if (await replace(deps.db.kysely, row, kind, envelope)) return state;
  }
  throw new Error(`MCP server ${id} keeps changing; try again later`);
}

type Stored = Parameters<typeof resealMcpHeaders>[1] &
  Parameters<typeof resealMcpEnv>[1] &
  Parameters<typeof resealClientSecret>[1] & { envelope: string | null };

function resealed(deps: { secrets: KeyRing }, row: Stored, kind: Kind): Resealed {
  if (kind === 'headers') return resealMcpHeaders(deps, row);
  if (kind === 'env') return resealMcpEnv(deps, row);
  return kind === 'client_secret' ? resealClientSecret(deps, row) : resealGrant(deps, row, row.envelope);
}

async function replace(db: Queryable, row: Stored, kind: Kind, envelope: string | null): Promise<boolean> {
  if (kind === 'envelope') {
    const { numUpdatedRows } = await db
      .updateTable('mcp_grants')
      .set({ envelope })
      .where('server_id', '=', row.id)
      .where('envelope', '=', row.envelope)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }
  const { numUpdatedRows } = await db
    .updateTable('mcp_servers')
    .set({ [kind]: envelope })
    .where('id', '=', row.id)
    .where('owner_id', '=', row.owner_id)
    .where('url', '=', row.url)
    .where(kind, '=', row[kind])
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
