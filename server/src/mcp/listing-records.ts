import type { ToolPolicy } from '@homeport/contracts/mcp/mcp';
import { newlyAsking, statesHints } from '@homeport/contracts/mcp/tool-hints';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { Definitions } from './fingerprint.ts';
import { type McpServerRow, parseDefinitions } from './views.ts';

/**
 * Results of listing a server's tools, in its record. They are written only if the server is still the one that was
 * asked: `revision`.
 */

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
 * Later changes of the texts in `volatileTexts` are ignored.
 */
export async function recordTrust(
  db: Queryable,
  asked: Asked & Pick<McpServerRow, 'trusted_tools'>,
  definitions: Definitions,
  volatileTexts: readonly string[],
): Promise<McpServerRow | undefined> {
  const columns = columnsOf(definitions);
  return db
    .updateTable('mcp_servers')
    .set({
      ...columns,
      trust_state: 'trusted',
      trusted_tools: columns.tools,
      trusted_fingerprint: definitions.fingerprint,
      volatile_texts: JSON.stringify(volatileTexts),
      trusted_with_offer: false,
      offer_trust_declined: false,
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
