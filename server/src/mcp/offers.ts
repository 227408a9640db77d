import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type {
  CountedMcpOffer,
  McpOffer,
  McpOfferPatch,
  NewMcpOffer,
  OfferedMcpServer,
} from '@homeport/contracts/mcp/offers';
import { type Selectable, sql } from 'kysely';
import { type AuditSource, changedFields, recordEvent } from '../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { McpOffersTable } from '../db/tables/catalogue.ts';
import { assertCustomHeaders } from '../egress/headers.ts';
import { placeOfServer } from './server-place.ts';
import { untrusted, withoutQuery } from './servers.ts';

/**
 * MCP servers that administrators offer to all users: their addresses, never credentials. A user who adds one gets a
 * server of their own (`mcp_servers.offer_id`), which follows the offer.
 */

type OfferDeps = { db: Pick<Database, 'kysely'> };
type OfferRow = Awaited<ReturnType<typeof readOffers>>[number];

/** Fields that `PATCH` and the manifest set; an omitted member keeps its value. */
export type OfferFields = Omit<McpOfferPatch, 'id'>;

const offerColumns = [
  'id',
  'name',
  'description',
  'url',
  'transport',
  'command',
  'args',
  'client_id',
  'header_names',
  'env_names',
  'trusted_fingerprint',
  'trusted_at',
  'created_at',
] as const;

/** Offers with the names of the administrators who trusted them, without the trusted definitions. */
function selectOffers(db: Queryable) {
  return db
    .selectFrom('mcp_offers')
    .leftJoin('users as reviewer', 'reviewer.id', 'mcp_offers.trusted_by')
    .select(offerColumns.map((column) => `mcp_offers.${column}` as const))
    .select('reviewer.name as trusted_by_name');
}

/** Every offer, oldest first, and which server `userId` has made of it. */
export async function listOffers(deps: OfferDeps, userId: string): Promise<OfferedMcpServer[]> {
  const rows = await selectOffers(deps.db.kysely)
    .leftJoin('mcp_servers', (join) =>
      join.onRef('mcp_servers.offer_id', '=', 'mcp_offers.id').on('mcp_servers.owner_id', '=', userId),
    )
    .select('mcp_servers.id as server_id')
    .orderBy('mcp_offers.seq')
    .execute();
  return rows.map((row) => ({ ...offerView(row), serverId: row.server_id }));
}

/** Every offer, oldest first, and how many people have added it. */
export async function countOffers(db: Queryable): Promise<CountedMcpOffer[]> {
  const isDrifted = sql<number>`count(*) filter (where trusted_with_offer and trust_state = 'drifted')`;
  const counts = db
    .selectFrom('mcp_servers')
    .select((server) => ['offer_id', server.fn.countAll<number>().as('servers'), isDrifted.as('drifted')])
    .where('offer_id', 'is not', null)
    .groupBy('offer_id')
    .as('counts');
  const rows = await selectOffers(db)
    .leftJoin(counts, 'counts.offer_id', 'mcp_offers.id')
    .select(['counts.servers', 'counts.drifted'])
    .orderBy('mcp_offers.seq')
    .execute();
  return rows.map((row) => ({ ...offerView(row), servers: row.servers ?? 0, drifted: row.drifted ?? 0 }));
}

/** One offer, with its counts. Throws `not_found`. */
export async function getCountedOffer(db: Queryable, id: string): Promise<CountedMcpOffer> {
  const offer = (await countOffers(db)).find((each) => each.id === id);
  if (offer === undefined) throw offerNotFound();
  return offer;
}

/** Offers by name, for manifests. */
export function readOffers(db: Queryable) {
  return selectOffers(db).orderBy('mcp_offers.seq').execute();
}

export async function createOffer(deps: OfferDeps, input: NewMcpOffer, source: AuditSource): Promise<CountedMcpOffer> {
  return inTransaction(deps.db, async (trx) => {
    const row = await insertOffer(trx, input, source);
    return getCountedOffer(trx, row.id);
  });
}

/** Adds an offer inside the caller's transaction. Throws `invalid_request`. */
export async function insertOffer(trx: Queryable, input: NewMcpOffer, source: AuditSource): Promise<{ id: string }> {
  assertNames(input);
  const place = placeOfServer(input);
  await lockOffers(trx);
  await assertRoom(trx);
  await assertNewName(trx, input.name);
  const row = await trx
    .insertInto('mcp_offers')
    .values({
      id: randomUUIDv7(),
      name: input.name,
      description: input.description ?? '',
      ...place,
      client_id: place.transport === 'stdio' ? null : (input.clientId ?? null),
      header_names: JSON.stringify(input.headerNames ?? []),
      env_names: JSON.stringify(input.envNames ?? []),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const details = { name: row.name, url: addressOf(row) };
  await recordEvent(trx, source, { action: 'mcp_offer.created', ...targetOf(row.id), details });
  return row;
}

/** Changes an offer; `moved` are the servers whose connections lead to what was there before. */
export async function changeOffer(
  deps: OfferDeps,
  { id, ...patch }: McpOfferPatch,
  source: AuditSource,
): Promise<{ offer: CountedMcpOffer; moved: string[] }> {
  return inTransaction(deps.db, async (trx) => {
    const { moved } = await updateOffer(trx, id, patch, source);
    return { offer: await getCountedOffer(trx, id), moved };
  });
}

/**
 * The same inside the caller's transaction. Another address or program revokes the trust of everybody who has added the
 * offer, and ends their sign-ins: both belong to what was there.
 */
export async function updateOffer(
  trx: Queryable,
  id: string,
  patch: OfferFields,
  source: AuditSource,
): Promise<{ moved: string[] }> {
  assertNames(patch);
  const before = await getLockedOffer(trx, id);
  if (patch.name !== undefined && patch.name !== before.name) await assertNewName(trx, patch.name);
  const place = placeOfServer({ ...patch, transport: patch.transport ?? before.transport }, before);
  const isProgram = place.transport === 'stdio';
  const isElsewhere = place.url !== before.url || place.transport !== before.transport;
  const clientId = isProgram ? null : patch.clientId === undefined ? before.client_id : patch.clientId;
  await trx
    .updateTable('mcp_offers')
    .set({
      ...place,
      name: patch.name,
      description: patch.description,
      client_id: clientId,
      header_names: patch.headerNames && JSON.stringify(patch.headerNames),
      env_names: patch.envNames && JSON.stringify(patch.envNames),
      ...(isElsewhere ? notReviewed : {}),
      updated_at: sql`now()`,
    })
    .where('id', '=', id)
    .execute();
  const moved = isElsewhere ? await moveServers(trx, id, place) : [];
  if (clientId !== before.client_id) {
    const client = { client_id: clientId, client_secret: null, client_issuer: null };
    await trx.updateTable('mcp_servers').set(client).where('offer_id', '=', id).execute();
  }
  const details = { changed: changedFields(patch), servers: moved.length };
  await recordEvent(trx, source, { action: 'mcp_offer.updated', ...targetOf(id), details });
  return { moved };
}

/** Columns of an offer whose tools each person reviews. */
export const notReviewed = {
  trusted_tools: null,
  trusted_fingerprint: null,
  volatile_texts: '[]',
  trusted_by: null,
  trusted_at: null,
} as const;

/** The offer, locked until the transaction ends. Throws `not_found`. */
export async function getLockedOffer(trx: Queryable, id: string): Promise<Selectable<McpOffersTable>> {
  await lockOffers(trx);
  const row = await trx.selectFrom('mcp_offers').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
  if (row === undefined) throw offerNotFound();
  return row;
}

async function moveServers(
  trx: Queryable,
  offerId: string,
  place: ReturnType<typeof placeOfServer>,
): Promise<string[]> {
  const rows = await trx
    .updateTable('mcp_servers')
    .set((row) => ({
      ...place,
      ...untrusted,
      connection: 'none' as const,
      revision: row('revision', '+', 1),
      updated_at: sql`now()`,
    }))
    .where('offer_id', '=', offerId)
    .returning('id')
    .execute();
  const moved = rows.map(({ id }) => id);
  const ofOffer = trx.selectFrom('mcp_servers').select('id').where('offer_id', '=', offerId);
  await trx.deleteFrom('mcp_grants').where('server_id', 'in', ofOffer).execute();
  return moved;
}

/** Withdraws an offer: the servers made of it go with it. Returns their ids. */
export async function removeOffer(deps: OfferDeps, id: string, source: AuditSource): Promise<string[]> {
  return inTransaction(deps.db, async (trx) => {
    const row = await getLockedOffer(trx, id);
    const servers = await trx.deleteFrom('mcp_servers').where('offer_id', '=', id).returning('id').execute();
    await trx.deleteFrom('mcp_offers').where('id', '=', id).execute();
    const details = { name: row.name, servers: servers.length };
    await recordEvent(trx, source, { action: 'mcp_offer.deleted', ...targetOf(id), details });
    return servers.map((server) => server.id);
  });
}

export function offerView(row: OfferRow): McpOffer {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    url: row.transport === 'stdio' ? '' : row.url,
    transport: row.transport,
    command: row.command,
    args: row.args,
    clientId: row.client_id,
    headerNames: row.header_names,
    envNames: row.env_names,
    trustedFingerprint: row.trusted_fingerprint,
    trustedBy: row.trusted_by_name,
    trustedAt: row.trusted_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}

/** One writer at a time, so that limit and names hold. */
async function lockOffers(trx: Queryable): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('mcp-offers', 0))`.execute(trx);
}

async function assertRoom(trx: Queryable): Promise<void> {
  const query = trx.selectFrom('mcp_offers').select((row) => row.fn.countAll<number>().as('count'));
  const { count } = await query.executeTakeFirstOrThrow();
  if (Number(count) >= limits.mcpOffers) throw fault('name', `At most ${limits.mcpOffers} MCP servers can be offered`);
}

async function assertNewName(trx: Queryable, name: string): Promise<void> {
  const query = trx.selectFrom('mcp_offers').select('id').where('name', '=', name);
  if ((await query.executeTakeFirst()) !== undefined) throw fault('name', 'A server of this name is already offered');
}

function assertNames({ headerNames }: OfferFields): void {
  assertCustomHeaders(Object.fromEntries((headerNames ?? []).map((name) => [name, ''])), 'headerNames');
}

function fault(path: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path, message }] });
}

function offerNotFound(): ApiError {
  return new ApiError('not_found', 'MCP server not found');
}

function addressOf({ url, command }: Pick<OfferRow, 'url' | 'command'>): string {
  return withoutQuery(command === null ? url : `stdio:${command}`);
}

export function targetOf(id: string) {
  return { targetType: 'mcp_offer', targetId: id };
}
