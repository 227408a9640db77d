import type { McpServer, McpTool } from '@homeport/contracts/mcp/mcp';
import type { Selectable } from 'kysely';
import type { McpServersTable } from '../db/tables/catalogue.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { readable } from '../secrets/reseal.ts';
import { findMcpHeaders, openMcpEnv } from './credentials.ts';

export type McpServerRow = Selectable<McpServersTable>;

/** A server as lists and responses show it: whether there are headers, never which. */
export function mcpServerView(deps: { secrets: KeyRing }, row: McpServerRow): McpServer {
  const found = findMcpHeaders(deps, row);
  const hasReadableEnv = readable(() => openMcpEnv(deps, row)) !== undefined;
  return {
    id: row.id,
    name: row.name,
    url: row.transport === 'stdio' ? '' : row.url,
    transport: row.transport,
    command: row.command,
    args: row.args,
    hasEnv: row.env !== null,
    version: row.version,
    enabled: row.enabled,
    hasHeaders: row.headers !== null,
    connection: row.connection,
    clientId: row.client_id,
    hasClientSecret: row.client_secret !== null,
    tools: parseDefinitions(row.tools),
    trustState: row.trust_state,
    fingerprint: row.fingerprint,
    trustedFingerprint: row.trusted_fingerprint,
    trustedWithOffer: row.trusted_with_offer,
    volatileTexts: row.volatile_texts,
    toolPolicies: row.tool_policies,
    lastTestedAt: row.last_tested_at?.toISOString() ?? null,
    lastError: row.last_error,
    ...(found === undefined || !hasReadableEnv ? { credentialsError: 'credentials_unreadable' as const } : {}),
    ...(found?.otherOrigin === undefined ? {} : { credentialsOrigin: found.otherOrigin }),
    offerId: row.offer_id,
    createdAt: row.created_at.toISOString(),
  };
}

/** Definitions as this service stored them. */
export function parseDefinitions(text: string): McpTool[] {
  return JSON.parse(text) as McpTool[];
}
