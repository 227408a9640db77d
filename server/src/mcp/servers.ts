import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { McpServerDetail, mcpServerBody, mcpServerPatchBody, ToolPolicy } from '@homeport/contracts/mcp/mcp';
import { newlyAsking, statesHints } from '@homeport/contracts/mcp/tool-hints';
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
import type { Definitions } from './fingerprint.ts';
import { assertLeftToOffer, placeOfOffer, placeOfServer } from './server-place.ts';
import { type McpServerRow, mcpServerView, parseDefinitions } from './views.ts';

/**
 * MCP server records and their states (control-plane-api.md "States and transitions", contract.md section 7). Only this
 * file, rotation.ts and, for signing in, connection-state.ts and oauth-grants.ts write the table `mcp_servers`. The
 * result of a listing is written only if the server is still
 * the one that was asked: `revision`.
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

/** Adds a server, untrusted and not yet asked. */
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
    const { client_id, ...place } =
      offerId === undefined
        ? { ...placeOfServer(input), client_id: input.clientId ?? null }
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
        tool_policies: toolPolicies === undefined ? undefined : JSON.stringify(toolPolicies),
        updated_at: sql`now()`,
        ...(isMoved ? { ...untrusted, revision: before.revision + 1 } : {}),
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
  trust_state: 'untrusted',
  trusted_tools: null,
  trusted_fingerprint: null,
  tools: '[]',
  fingerprint: null,
  reviewed_fingerprint: null,
  last_tested_at: null,
  last_error: null,
  version: null,
} as const;

export async function deleteMcpServer(deps: McpDeps, owner: string, id: string, source: AuditSource): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const query = trx.deleteFrom('mcp_servers').where('id', '=', id).where('owner_id', '=', owner);
    const row = await query.returning('name').executeTakeFirst();
    if (row === undefined) throw serverNotFound();
    const details = { name: row.name, owner };
    await recordEvent(trx, source, { action: 'mcp_server.deleted', ...targetOf(id), details });
  });
}

/** The result of asking a server: its definitions, or why there are none. */
export type Outcome = Definitions | { error: string };
type Asked = Pick<McpServerRow, 'id' | 'revision'>;

/** Stores the result of asking the server; the trust stays as it is. Undefined if the server has changed or is gone. */
export async function recordOutcome(db: Queryable, asked: Asked, outcome: Outcome): Promise<McpServerRow | undefined> {
  return db
    .updateTable('mcp_servers')
    .set({ ...columnsOf(outcome), ...('error' in outcome ? {} : openToAll), last_tested_at: sql`now()` })
    .where('id', '=', asked.id)
    .where('revision', '=', asked.revision)
    .returningAll()
    .executeTakeFirst();
}

/** It listed its tools without being signed in to. */
const openToAll = {
  connection: sql<'none' | 'connected'>`case when connection = 'connected' then connection else 'none' end`,
};

/**
 * Trusts these definitions of the server as it was asked; undefined if it has changed since. Tools whose hints say that
 * they act outside their server start as "ask", unless they have a policy or were trusted with the same effect before.
 */
export async function recordTrust(
  db: Queryable,
  asked: Asked & Pick<McpServerRow, 'trusted_tools'>,
  definitions: Definitions,
): Promise<McpServerRow | undefined> {
  const columns = columnsOf(definitions);
  return db
    .updateTable('mcp_servers')
    .set({
      ...columns,
      trust_state: 'trusted',
      trusted_tools: columns.tools,
      trusted_fingerprint: definitions.fingerprint,
      tool_policies: sql`${JSON.stringify(startingPolicies(asked, definitions))}::jsonb || tool_policies`,
      last_tested_at: sql`now()`,
    })
    .where('id', '=', asked.id)
    .where('revision', '=', asked.revision)
    .returningAll()
    .executeTakeFirst();
}

/** Tools without any hint keep the default of the contract (section 7), "allow": only a person's review asks for them. */
function startingPolicies(
  { trusted_tools: trusted }: Pick<McpServerRow, 'trusted_tools'>,
  { tools }: Definitions,
): Record<string, ToolPolicy> {
  const asking = newlyAsking(tools.filter(statesHints), parseDefinitions(trusted ?? '[]'));
  return Object.fromEntries(asking.map(({ name }) => [name, 'ask']));
}

/** Marks a trusted server as drifted, if the trusted definitions are still the same. */
export async function recordDrift(
  db: Queryable,
  seen: Asked & { trusted_fingerprint: string | null },
  definitions: Definitions,
): Promise<void> {
  await db
    .updateTable('mcp_servers')
    .set({ ...columnsOf(definitions), trust_state: 'drifted' })
    .where('id', '=', seen.id)
    .where('revision', '=', seen.revision)
    .where('trust_state', '=', 'trusted')
    .where('trusted_fingerprint', '=', seen.trusted_fingerprint)
    .execute();
}

/** Records a drift notice for these definitions in a conversation; false if it already has one. */
export async function recordDriftNotice(
  db: Queryable,
  serverId: string,
  chatId: string,
  fingerprint: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('mcp_drift_notices')
    .values({ server_id: serverId, chat_id: chatId, fingerprint })
    .onConflict((conflict) =>
      conflict
        .columns(['server_id', 'chat_id'])
        .doUpdateSet({ fingerprint })
        .where('mcp_drift_notices.fingerprint', '!=', fingerprint),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Records that the owner reviewed these definitions, so that conversations do not mention them again. */
export async function recordReview(db: Queryable, asked: Asked, { fingerprint }: Definitions): Promise<void> {
  await db
    .updateTable('mcp_servers')
    .set({ reviewed_fingerprint: fingerprint })
    .where('id', '=', asked.id)
    .where('revision', '=', asked.revision)
    .execute();
}

/** Stores why a turn continued without the server; writes nothing if that is already stored. */
export async function recordFailure(db: Queryable, asked: Asked, error: string | null): Promise<void> {
  await db
    .updateTable('mcp_servers')
    .set({ last_error: error })
    .where('id', '=', asked.id)
    .where('revision', '=', asked.revision)
    .where('last_error', 'is distinct from', error)
    .execute();
}

/** The definitions that drift is reported against: the trusted ones, otherwise the last listing. */
export function knownDefinitions(row: McpServerRow) {
  return parseDefinitions(row.trusted_tools ?? row.tools);
}

export function targetOf(id: string) {
  return { targetType: 'mcp_server', targetId: id };
}

function columnsOf(outcome: Definitions): {
  tools: string;
  fingerprint: string;
  version: string | null;
  last_error: null;
};
function columnsOf(outcome: Outcome): {
  tools?: string;
  fingerprint?: string;
  version?: string | null;
  last_error: string | null;
};
function columnsOf(outcome: Outcome) {
  if ('error' in outcome) return { last_error: outcome.error };
  return {
    version: outcome.version ?? null,
    tools: JSON.stringify(outcome.tools),
    fingerprint: outcome.fingerprint,
    last_error: null,
  };
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
