import type { McpTool, ToolPolicy } from '@homeport/contracts/mcp/mcp';
import { newlyAsking } from '@homeport/contracts/mcp/tool-hints';
import type { Selectable } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { McpOffersTable } from '../db/tables/catalogue.ts';
import { type McpServerRow, parseDefinitions } from './views.ts';

/** Trust that an administrator gave an offer for everyone, as the columns of the servers made of it. */

export type ReviewedOffer = Pick<
  Selectable<McpOffersTable>,
  'trusted_tools' | 'trusted_fingerprint' | 'volatile_texts'
>;
type Policies = Record<string, ToolPolicy>;

export const withoutTrust = {
  trust_state: 'untrusted',
  trusted_tools: null,
  trusted_fingerprint: null,
  volatile_texts: '[]',
  trusted_with_offer: false,
} as const;

/** Trust columns of a server whose offer is trusted; undefined if the offer isn't. */
export function trustOf(offer: ReviewedOffer) {
  const { trusted_tools, trusted_fingerprint, volatile_texts } = offer;
  if (trusted_tools === null || trusted_fingerprint === null) return undefined;
  return {
    trust_state: 'trusted',
    trusted_tools,
    trusted_fingerprint,
    volatile_texts: JSON.stringify(volatile_texts),
    trusted_with_offer: true,
  } as const;
}

/** Columns of a server that has never been listed, with the trust of its offer, if there is one. */
export function startingTrust(offer: ReviewedOffer, policies: Policies) {
  const trust = trustOf(offer);
  if (trust === undefined) return {};
  const starting = { ...askingPolicies(parseDefinitions(trust.trusted_tools), []), ...policies };
  return {
    ...trust,
    tools: trust.trusted_tools,
    fingerprint: trust.trusted_fingerprint,
    tool_policies: JSON.stringify(starting),
  };
}

/**
 * Policies of newly trusted tools: "ask" for every tool with an effect, also where its server states no hints, because
 * the person who uses it has not reviewed it.
 */
export function askingPolicies(tools: readonly McpTool[], trustedBefore: readonly McpTool[]): Policies {
  return Object.fromEntries(newlyAsking(tools, trustedBefore).map(({ name }) => [name, 'ask']));
}

/** The offer that an owner's server was made of; locks it until the transaction ends, before its servers are locked. */
export async function findOfferOf(
  trx: Queryable,
  { owner_id: owner, id }: Pick<McpServerRow, 'owner_id' | 'id'>,
): Promise<ReviewedOffer | undefined> {
  const ofServer = trx.selectFrom('mcp_servers').select('offer_id').where('id', '=', id).where('owner_id', '=', owner);
  return trx
    .selectFrom('mcp_offers')
    .select(['trusted_tools', 'trusted_fingerprint', 'volatile_texts'])
    .where('id', 'in', ofServer)
    .forShare()
    .executeTakeFirst();
}
