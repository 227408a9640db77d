import { type BoundPlace, openFor, openForOwner, originOf, resealBound, sealFor } from '../secrets/bound.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type Resealed, readable } from '../secrets/reseal.ts';

/**
 * The headers of MCP servers: one envelope per server, bound to its row, owner and origin; decrypted for a connection
 * or for an editor, never kept.
 */

type Secrets = { secrets: KeyRing };

/** Columns that a server's headers are bound to: owner and address. */
export type ServerPlace = { id: string; owner_id: string; url: string };
type StoredHeaders = ServerPlace & { headers: string | null };

/** All headers in one envelope; none if there are no headers. */
export function sealMcpHeaders(deps: Secrets, server: ServerPlace, headers: Record<string, string>): string | null {
  if (Object.keys(headers).length === 0) return null;
  return sealFor(deps.secrets, placeOf(server), JSON.stringify(headers));
}

/** The headers to send to the server's current address. Throws `credentials_unreadable`. */
export function openMcpHeaders(deps: Secrets, row: StoredHeaders): Record<string, string> {
  return row.headers === null ? {} : parseHeaders(openFor(deps.secrets, placeOf(row), row.headers));
}

/**
 * The headers for an editor, or undefined if no key opens them; `otherOrigin` is the origin they belong to if that is
 * no longer the server's.
 */
export function findMcpHeaders(
  deps: Secrets,
  row: StoredHeaders,
): { headers: Record<string, string>; otherOrigin: string | undefined } | undefined {
  const { headers: envelope } = row;
  if (envelope === null) return { headers: {}, otherOrigin: undefined };
  const found = readable(() => openForOwner(deps.secrets, placeOf(row), envelope));
  if (found === undefined) return undefined;
  const otherOrigin = found.origin === originOf(row.url) ? undefined : found.origin;
  return { headers: parseHeaders(found.text), otherOrigin };
}

/** Seals headers with the current key, bound to owner and origin, unless they already are. */
export function resealMcpHeaders(deps: Secrets, row: StoredHeaders): Resealed {
  return resealBound(deps.secrets, placeOf(row), row.headers);
}

/** The environment variables of a server that is a program, bound like headers. */
export function sealMcpEnv(deps: Secrets, server: ServerPlace, env: Record<string, string>): string | null {
  if (Object.keys(env).length === 0) return null;
  return sealFor(deps.secrets, envPlaceOf(server), JSON.stringify(env));
}

/** Throws `credentials_unreadable`. */
export function openMcpEnv(deps: Secrets, row: ServerPlace & { env: string | null }): Record<string, string> {
  return row.env === null ? {} : parseHeaders(openFor(deps.secrets, envPlaceOf(row), row.env));
}

/** The same as for headers. */
export function resealMcpEnv(deps: Secrets, row: ServerPlace & { env: string | null }): Resealed {
  return resealBound(deps.secrets, envPlaceOf(row), row.env);
}

/** Not bound to an address: only the owner can change the program, and it runs only in the owner's workspace. */
function envPlaceOf({ id, owner_id }: ServerPlace): BoundPlace {
  return { table: 'mcp_servers', row: id, column: 'env', owner: owner_id, address: 'stdio:' };
}

type StoredClient = ServerPlace & { client_secret: string | null };

/** The secret of the OAuth client given for a server. */
export function sealClientSecret(deps: Secrets, server: ServerPlace, secret: string | null): string | null {
  return secret === null ? null : sealFor(deps.secrets, clientPlaceOf(server), secret);
}

/** Throws `credentials_unreadable`. */
export function openClientSecret(deps: Secrets, row: StoredClient): string | undefined {
  return row.client_secret === null ? undefined : openFor(deps.secrets, clientPlaceOf(row), row.client_secret);
}

/** The same as for headers. */
export function resealClientSecret(deps: Secrets, row: StoredClient): Resealed {
  return resealBound(deps.secrets, clientPlaceOf(row), row.client_secret);
}

function clientPlaceOf(server: ServerPlace): BoundPlace {
  return { ...placeOf(server), column: 'client_secret' };
}

function parseHeaders(text: string): Record<string, string> {
  const entries = Object.entries(JSON.parse(text) ?? {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function placeOf({ id, owner_id, url }: ServerPlace): BoundPlace {
  return { table: 'mcp_servers', row: id, column: 'headers', owner: owner_id, address: url };
}
