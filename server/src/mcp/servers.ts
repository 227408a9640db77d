import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { McpServerDetail, mcpServerBody, mcpServerPatchBody } from '@homeport/contracts/mcp/mcp';
import { sql } from 'kysely';
import type { z } from 'zod';
import { type AuditSource, changedFields, recordEvent } from '../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import { assertCustomHeaders } from '../egress/headers.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { readable } from '../secrets/reseal.ts';
import {
  findMcpHeaders,
  openMcpEnv,
  resealClientSecret,
  resealMcpHeaders,
  sealClientSecret,
  sealMcpEnv,
  sealMcpHeaders,
} from './credentials.ts';
import { findOfferOf, startingTrust, withoutTrust } from './offered-trust.ts';
import { assertLeftToOffer, placeOfOffer, placeOfServer } from './server-place.ts';
import { type McpServerRow, mcpServerView } from './views.ts';

/**
 * MCP server records and their states (control-plane-api.md "States and transitions", contract.md section 7). Only this
 * file, listing-records.ts, rotation.ts and, for signing in, connection-state.ts and oauth-grants.ts write the table
 * `mcp_servers`.
 */

export type McpDeps = { db: Pick<Database, 'kysely'>; secrets: KeyRing };
export type NewMcpServer = z.output<typeof mcpServerBody>;
export type McpServerPatch = z.output<typeof mcpServerPatchBody>;

/** The owner's servers, oldest first. */
export async function listMcpServers(deps: McpDeps, owner: string) {
  const rows = await deps.db.kysely
    .selectFrom('mcp_servers')
    .selectAll()
    .where('owner_id', '=', owner)
    .orderBy('seq')
    .execute();
  return rows.map((row) => mcpServerView(deps, row));
}

/** One server with its decrypted headers, for editors. Throws `not_found`. */
export async function getMcpServerDetail(deps: McpDeps, owner: string, id: string): Promise<McpServerDetail> {
  const row = await getOwnedMcpServer(deps.db.kysely, owner, id);
  const env = readable(() => openMcpEnv(deps, row)) ?? {};
  return { ...mcpServerView(deps, row), headers: findMcpHeaders(deps, row)?.headers ?? {}, env };
}

/** Throws the same `not_found` for a missing and a foreign server. */
export async function getOwnedMcpServer(db: Queryable, owner: string, id: string): Promise<McpServerRow> {
  const row = await db
    .selectFrom('mcp_servers')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', owner)
    .executeTakeFirst();
  if (row === undefined) throw serverNotFound();
  return row;
}

function serverNotFound(): ApiError {
  return new ApiError('not_found', 'MCP server not found');
}

/** Throws `not_found` unless all of these are this owner's servers. */
export async function assertOwnedMcpServers(db: Queryable, owner: string, ids: readonly string[]): Promise<void> {
  const wanted = new Set(ids);
  if (wanted.size === 0) return;
  const { count } = await db
    .selectFrom('mcp_servers')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('owner_id', '=', owner)
    .where('id', 'in', [...wanted])
    .executeTakeFirstOrThrow();
  if (Number(count) !== wanted.size) throw serverNotFound();
}

/** Adds a server, not yet asked, and untrusted unless an administrator has trusted its offer for everyone. */
export async function insertMcpServer(
  deps: McpDeps,
  owner: string,
  input: NewMcpServer,
  source: AuditSource,
): Promise<McpServerRow> {
  assertCustomHeaders(input.headers ?? {});
  const { offerId } = input;
  if (offerId !== undefined) assertLeftToOffer(input);
  const id = randomUUIDv7();
  return inTransaction(deps.db, async (trx) => {
    const { client_id, reviewed, ...place } =
      offerId === undefined
        ? { ...placeOfServer(input), client_id: input.clientId ?? null, reviewed: undefined }
        : await placeOfOffer(trx, offerId);
    const at = { id, owner_id: owner, url: place.url };
    await sql`select pg_advisory_xact_lock(hashtextextended(${`mcp:${owner}`}, 0))`.execute(trx);
    await assertRoom(trx, owner);
    if (offerId !== undefined) await assertNotAdded(trx, owner, offerId);
    const row = await trx
      .insertInto('mcp_servers')
      .values({
        id,
        owner_id: owner,
        name: input.name,
        ...place,
        headers: sealMcpHeaders(deps, at, input.headers ?? {}),
        env: sealMcpEnv(deps, at, input.env ?? {}),
        client_id,
        offer_id: offerId ?? null,
        client_secret: sealClientSecret(deps, at, input.clientSecret ?? null),
        enabled: input.enabled ?? true,
        tool_policies: JSON.stringify(input.toolPolicies ?? {}),
        ...(reviewed && startingTrust(reviewed, input.toolPolicies ?? {})),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const details = {
      name: input.name,
      url: withoutQuery(place.command === null ? place.url : `stdio:${place.command}`),
      owner,
    };
    await recordEvent(trx, source, { action: 'mcp_server.created', ...targetOf(id), details });
    return row;
  });
}

/**
 * Changes a server. Another url, transport or other headers revoke the trust and clear what was known of the tools;
 * anything else keeps both. Omitted headers stay bound to their origin. `isMoved`: the server has to be asked again.
 */
export async function updateMcpServer(
  deps: McpDeps,
  owner: string,
  patch: McpServerPatch,
  source: AuditSource,
): Promise<{ row: McpServerRow; isMoved: boolean }> {
  const { id, name, url, transport, command, args, env, headers, clientId, clientSecret, enabled, toolPolicies } =
    patch;
  assertCustomHeaders(headers ?? {});
  return inTransaction(deps.db, async (trx) => {
    const offer = await findOfferOf(trx, { owner_id: owner, id });
    const own = trx.selectFrom('mcp_servers').select('id').where('id', '=', id).where('owner_id', '=', owner);
    await own.forUpdate().execute();
    const before = await getOwnedMcpServer(trx, owner, id);
    if (before.offer_id !== null) assertLeftToOffer(patch);
    const now = placeOfServer({ ...patch, transport: transport ?? before.transport }, before);
    const place = { ...before, url: now.url };
    const isElsewhere = now.url !== before.url || now.transport !== before.transport;
    const isMoved =
      isElsewhere ||
      (env !== undefined && !hasSameEnv(deps, before, env)) ||
      (headers !== undefined && !hasSameHeaders(deps, before, headers));
    const offered =
      offer && !before.offer_trust_declined ? startingTrust(offer, toolPolicies ?? before.tool_policies) : {};
    const envelope =
      headers === undefined ? resealMcpHeaders(deps, before).envelope : sealMcpHeaders(deps, place, headers);
    const secret =
      clientSecret === undefined
        ? resealClientSecret(deps, before).envelope
        : sealClientSecret(deps, place, clientSecret);
    // The tokens belong to what was there.
    if (isElsewhere) await trx.deleteFrom('mcp_grants').where('server_id', '=', id).execute();
    const row = await trx
      .updateTable('mcp_servers')
      .set({
        ...now,
        name,
        enabled,
        client_id: clientId,
        env: env === undefined ? undefined : sealMcpEnv(deps, before, env),
        headers: isMoved ? envelope : undefined,
        client_secret: isElsewhere || clientSecret !== undefined ? secret : undefined,
        client_issuer: clientId === undefined && clientSecret === undefined ? undefined : null,
        connection: isElsewhere ? 'none' : undefined,
        tool_policies: toolPolicies && JSON.stringify(toolPolicies),
        updated_at: sql`now()`,
        ...(isMoved ? { ...untrusted, revision: before.revision + 1, ...offered } : {}),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const details = {
      changed: changedFields({
        name,
        url,
        transport,
        command,
        args,
        env,
        headers,
        clientId,
        clientSecret,
        enabled,
        toolPolicies,
      }),
      owner,
    };
    await recordEvent(trx, source, { action: 'mcp_server.updated', ...targetOf(id), details });
    return { row, isMoved };
  });
}

/** Trust columns of a server that has never been listed. */
export const untrusted = {
  ...withoutTrust,
  tools: '[]',
  fingerprint: null,
  reviewed_fingerprint: null,
  last_tested_at: null,
  last_error: null,
  version: null,
} as const;

/** Withdraws the trust; from then on, no call is made. The listed tools stay known. Throws `not_found`. */
export async function withdrawTrust(deps: McpDeps, owner: string, id: string, source: AuditSource): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const row = await trx
      .updateTable('mcp_servers')
      .set({ ...withoutTrust, offer_trust_declined: sql<boolean>`offer_id is not null` })
      .where('id', '=', id)
      .where('owner_id', '=', owner)
      .returning('name')
      .executeTakeFirst();
    if (row === undefined) throw serverNotFound();
    const details = { name: row.name, owner };
    await recordEvent(trx, source, { action: 'mcp_server.untrusted', ...targetOf(id), details });
  });
}

export async function deleteMcpServer(deps: McpDeps, owner: string, id: string, source: AuditSource): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const query = trx.deleteFrom('mcp_servers').where('id', '=', id).where('owner_id', '=', owner);
    const row = await query.returning('name').executeTakeFirst();
    if (row === undefined) throw serverNotFound();
    const details = { name: row.name, owner };
    await recordEvent(trx, source, { action: 'mcp_server.deleted', ...targetOf(id), details });
  });
}

export function targetOf(id: string) {
  return { targetType: 'mcp_server', targetId: id };
}

function hasSameEnv(deps: McpDeps, row: McpServerRow, env: Record<string, string>): boolean {
  const found = readable(() => openMcpEnv(deps, row));
  return (
    found !== undefined && JSON.stringify(Object.entries(found).sort()) === JSON.stringify(Object.entries(env).sort())
  );
}

/** Headers that cannot be decrypted or sent count as different headers. */
function hasSameHeaders(deps: McpDeps, row: McpServerRow, headers: Record<string, string>): boolean {
  const found = findMcpHeaders(deps, row);
  if (found === undefined || found.otherOrigin !== undefined) return false;
  return JSON.stringify(Object.entries(found.headers).sort()) === JSON.stringify(Object.entries(headers).sort());
}

/** The query can contain a key; the audit log must not contain secrets. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '');
}

async function assertNotAdded(trx: Queryable, owner: string, offerId: string): Promise<void> {
  const query = trx.selectFrom('mcp_servers').select('id').where('owner_id', '=', owner);
  if ((await query.where('offer_id', '=', offerId).executeTakeFirst()) === undefined) return;
  const message = 'You have already added this server';
  throw new ApiError('invalid_request', message, { details: [{ path: 'offerId', message }] });
}

async function assertRoom(trx: Queryable, owner: string): Promise<void> {
  const { count } = await trx
    .selectFrom('mcp_servers')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('owner_id', '=', owner)
    .executeTakeFirstOrThrow();
  if (Number(count) < limits.mcpServersPerOwner) return;
  const message = `At most ${limits.mcpServersPerOwner} MCP servers`;
  throw new ApiError('invalid_request', message, { details: [{ path: 'name', message }] });
}
