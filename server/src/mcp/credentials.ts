import { type KeyRing, open, type SecretPlace, seal } from '../secrets/key-ring.ts';
import { type Resealed, readable, reseal } from '../secrets/reseal.ts';

/** The headers of MCP servers: one envelope each, bound to its row; decrypted for a connection or for an editor, never kept. */

type Secrets = { secrets: KeyRing };

/** The one envelope of all headers; none when there are none. */
export function sealMcpHeaders(deps: Secrets, serverId: string, headers: Record<string, string>): string | null {
  if (Object.keys(headers).length === 0) return null;
  return seal(deps.secrets, placeOf(serverId), JSON.stringify(headers));
}

/** Throws `credentials_unreadable`. */
export function openMcpHeaders(deps: Secrets, row: { id: string; headers: string | null }): Record<string, string> {
  if (row.headers === null) return {};
  const content: unknown = JSON.parse(open(deps.secrets, placeOf(row.id), row.headers));
  const entries = Object.entries(content ?? {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** The headers, or undefined when no key opens them. */
export function findMcpHeaders(
  deps: Secrets,
  row: { id: string; headers: string | null },
): Record<string, string> | undefined {
  return readable(() => openMcpHeaders(deps, row));
}

export function resealMcpHeaders(deps: Secrets, serverId: string, envelope: string | null): Resealed {
  return reseal(deps.secrets, placeOf(serverId), envelope);
}

function placeOf(serverId: string): SecretPlace {
  return { table: 'mcp_servers', row: serverId, column: 'headers' };
}
