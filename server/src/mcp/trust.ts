import { ApiError } from '@homeport/contracts/errors';
import type { McpDrift, McpServer } from '@homeport/contracts/mcp/mcp';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { inTransaction } from '../db/pool.ts';
import type { Listing } from './connection/connection.ts';
import type { McpConnections } from './connection/connections.ts';
import { driftBetween } from './drift.ts';
import { knownDefinitions, recordDrift, recordOutcome, recordReview, recordTrust } from './listing-records.ts';
import {
  getOwnedMcpServer,
  insertMcpServer,
  type McpDeps,
  type McpServerPatch,
  type NewMcpServer,
  targetOf,
  updateMcpServer,
} from './servers.ts';
import { acceptedTexts, asKnown, isSameProgram, isTrustedListing } from './trusted-tools.ts';
import { type McpServerRow, mcpServerView } from './views.ts';

/** Asking servers for their tools: when added, when tested, and to trust them (contract.md section 7). */

export type TrustDeps = McpDeps & { mcp: McpConnections };

/** Adds a server and asks it for its tools; if that fails, it is kept with `lastError`. */
export async function createMcpServer(
  deps: TrustDeps,
  owner: string,
  input: NewMcpServer,
  source: AuditSource,
): Promise<McpServer> {
  const row = await insertMcpServer(deps, owner, input, source);
  return mcpServerView(deps, (await askAfterChange(deps, row)) ?? row);
}

/** Changes a server; if its address has changed, it is asked again. */
export async function changeMcpServer(
  deps: TrustDeps,
  owner: string,
  patch: McpServerPatch,
  source: AuditSource,
): Promise<McpServer> {
  const { row, isMoved } = await updateMcpServer(deps, owner, patch, source);
  if (!isMoved) return mcpServerView(deps, row);
  deps.mcp.drop(row.id);
  return mcpServerView(deps, (await askAfterChange(deps, row)) ?? row);
}

/** Asks a server for its tools and keeps the outcome; undefined if it has changed meanwhile. */
export async function askAfterChange(deps: TrustDeps, row: McpServerRow): Promise<McpServerRow | undefined> {
  const listed = deps.mcp.list(row).then((listing) => asKnown(row, listing));
  const outcome = await listed.catch((error) => ({ error: messageOf(error) }));
  // The trust came with the offer, but this listing is another one.
  if (row.trusted_with_offer && !('error' in outcome) && !isTrustedListing(row, outcome)) {
    await recordDrift(deps.db.kysely, row, outcome);
  }
  return recordOutcome(deps.db.kysely, row, outcome);
}

/**
 * Lists the tools again and reports what changed since they were trusted or, without trust, last listed. The trust
 * stays as it is. Throws what `McpConnections.list` throws, and stores it as `lastError`.
 */
export async function testMcpServer(
  deps: TrustDeps,
  owner: string,
  id: string,
  source: AuditSource,
): Promise<{ server: McpServer; drift: McpDrift }> {
  const row = await getOwnedMcpServer(deps.db.kysely, owner, id);
  const listing = asKnown(row, await ask(deps, row, source));
  const found = driftBetween(knownDefinitions(row), listing.tools, row.volatile_texts);
  // Another version of a program may have the same tools.
  const isOther = row.trusted_fingerprint !== null && !isSameProgram(row, listing);
  const drift = { ...found, changed: found.changed || isOther };
  const tested = await inTransaction(deps.db, async (trx) => {
    const details = { ok: true, changed: drift.changed, owner };
    await recordEvent(trx, source, { action: 'mcp_server.tested', ...targetOf(id), details });
    await recordReview(trx, row, listing);
    return recordOutcome(trx, row, listing);
  });
  return { server: mcpServerView(deps, tested ?? (await getOwnedMcpServer(deps.db.kysely, owner, id))), drift };
}

/**
 * Lists the tools again and trusts them. With `fingerprint` (the one that was seen), only if it still matches:
 * otherwise throws `mcp_tools_changed` and trusts nothing. With `volatileTexts`, later changes of those texts are
 * ignored, if they have been seen to change; models get them as they were reviewed.
 */
export async function trustMcpServer(
  deps: TrustDeps,
  owner: string,
  { id, fingerprint, volatileTexts = [] }: { id: string; fingerprint?: string; volatileTexts?: string[] },
  source: AuditSource,
): Promise<McpServer> {
  const row = await getOwnedMcpServer(deps.db.kysely, owner, id);
  const { listing, accepted } = await listReviewed(deps, row, { fingerprint, volatileTexts }, source);
  return inTransaction(deps.db, async (trx) => {
    const trusted = await recordTrust(trx, row, listing, accepted);
    // The server changed or was deleted while it was asked: its answer is not what would be trusted.
    if (trusted === undefined) {
      await getOwnedMcpServer(trx, owner, id);
      throw toolsChanged();
    }
    const details = {
      fingerprint: listing.fingerprint,
      tools: listing.tools.length,
      ...(accepted.length === 0 ? {} : { volatileTexts: accepted.length }),
      owner,
    };
    await recordEvent(trx, source, { action: 'mcp_server.trusted', ...targetOf(id), details });
    return mcpServerView(deps, trusted);
  });
}

/** Lists the tools again; throws `mcp_tools_changed` if they are not the ones with `fingerprint`. */
export async function listReviewed(
  deps: TrustDeps,
  row: McpServerRow,
  { fingerprint, volatileTexts }: { fingerprint: string | undefined; volatileTexts: readonly string[] },
  source: AuditSource,
): Promise<{ listing: Listing; accepted: string[] }> {
  const listed = await ask(deps, row, source);
  const accepted = acceptedTexts(row, listed, volatileTexts);
  const listing = asKnown({ ...row, volatile_texts: accepted }, listed, fingerprint);
  if (fingerprint !== undefined && fingerprint !== listing.fingerprint) {
    await recordOutcome(deps.db.kysely, row, listing);
    throw toolsChanged();
  }
  return { listing, accepted };
}

async function ask(deps: TrustDeps, row: McpServerRow, source: AuditSource): Promise<Listing> {
  try {
    return await deps.mcp.list(row);
  } catch (error) {
    const code = error instanceof ApiError ? error.code : 'internal_error';
    await inTransaction(deps.db, async (trx) => {
      await recordOutcome(trx, row, { error: messageOf(error) });
      const details = { ok: false, code, owner: row.owner_id };
      await recordEvent(trx, source, { action: 'mcp_server.tested', ...targetOf(row.id), details });
    });
    throw error;
  }
}

export function toolsChanged(): ApiError {
  return new ApiError('mcp_tools_changed', 'The tools have changed since you reviewed them. Review them again.');
}

function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.message : 'The MCP server could not be used.';
}
