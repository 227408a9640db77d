import { ApiError } from '@homeport/contracts/errors';
import type { CountedMcpOffer } from '@homeport/contracts/mcp/offers';
import { sql } from 'kysely';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import { askingPolicies, type ReviewedOffer, trustOf, withoutTrust } from './offered-trust.ts';
import { getCountedOffer, getLockedOffer, notReviewed, targetOf } from './offers.ts';
import { listReviewed, type TrustDeps, toolsChanged } from './trust.ts';
import { parseDefinitions } from './views.ts';

/** Trust that an administrator gives an offered server for everyone (contract.md section 7). */

type Reviewed = { id: string; fingerprint: string; volatileTexts?: string[] | undefined };

/**
 * Trusts an offer for everyone who has added it or will: lists its tools with the administrator's own server of this
 * offer, and only if they still have `fingerprint`; otherwise throws `mcp_tools_changed`. Trust that people gave
 * themselves stays as long as it holds.
 */
export async function trustOffer(
  deps: TrustDeps,
  administrator: string,
  { id, fingerprint, volatileTexts = [] }: Reviewed,
  source: AuditSource,
): Promise<CountedMcpOffer> {
  await getCountedOffer(deps.db.kysely, id);
  const row = await findServerOf(deps.db.kysely, id, administrator);
  if (row === undefined) throw notAdded();
  const { listing, accepted } = await listReviewed(deps, row, { fingerprint, volatileTexts }, source);
  return inTransaction(deps.db, async (trx) => {
    const before = await getLockedOffer(trx, id);
    const now = await findServerOf(trx, id, administrator);
    // The offer moved or the server was changed while it was asked.
    if (now?.id !== row.id || now.revision !== row.revision) throw toolsChanged();
    const reviewed = {
      trusted_tools: JSON.stringify(listing.tools),
      trusted_fingerprint: listing.fingerprint,
      volatile_texts: accepted,
    };
    await trx
      .updateTable('mcp_offers')
      .set({
        ...reviewed,
        volatile_texts: JSON.stringify(accepted),
        trusted_by: administrator,
        trusted_at: sql`now()`,
      })
      .where('id', '=', id)
      .execute();
    const servers = await spreadTrust(trx, id, reviewed, before);
    const details = { name: before.name, fingerprint: listing.fingerprint, tools: listing.tools.length, servers };
    await recordEvent(trx, source, { action: 'mcp_offer.trusted', ...targetOf(id), details });
    return getCountedOffer(trx, id);
  });
}

/** Ends the trust for everyone. Calls check the trust right before they are made, so running answers stop, too. */
export async function withdrawOfferTrust(deps: TrustDeps, id: string, source: AuditSource): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const { name } = await getLockedOffer(trx, id);
    await trx.updateTable('mcp_offers').set(notReviewed).where('id', '=', id).execute();
    const { numUpdatedRows } = await trx
      .updateTable('mcp_servers')
      .set(withoutTrust)
      .where('offer_id', '=', id)
      .where('trusted_with_offer', '=', true)
      .executeTakeFirst();
    const details = { name, servers: Number(numUpdatedRows) };
    await recordEvent(trx, source, { action: 'mcp_offer.untrusted', ...targetOf(id), details });
  });
}

/** Copies the trust to the servers made of the offer; returns their number. */
async function spreadTrust(
  trx: Queryable,
  offerId: string,
  reviewed: ReviewedOffer,
  before: ReviewedOffer,
): Promise<number> {
  const tools = parseDefinitions(reviewed.trusted_tools ?? '[]');
  const known = parseDefinitions(before.trusted_tools ?? '[]');
  const followers = await spreadTo(trx, { offerId, follows: true }, reviewed, askingPolicies(tools, known));
  return followers + (await spreadTo(trx, { offerId, follows: false }, reviewed, askingPolicies(tools, [])));
}

/** `follows`: the servers that had the offer's trust before; otherwise those that no present trust of a person covers. */
async function spreadTo(
  trx: Queryable,
  { offerId, follows }: { offerId: string; follows: boolean },
  reviewed: ReviewedOffer,
  asking: Record<string, unknown>,
): Promise<number> {
  const unlisted = { tools: reviewed.trusted_tools, fingerprint: reviewed.trusted_fingerprint };
  let update = trx
    .updateTable('mcp_servers')
    .set({
      ...trustOf(reviewed),
      tools: sql`case when fingerprint is null then ${unlisted.tools} else tools end`,
      fingerprint: sql`coalesce(fingerprint, ${unlisted.fingerprint})`,
      tool_policies: sql`${JSON.stringify(asking)}::jsonb || tool_policies`,
    })
    .where('offer_id', '=', offerId)
    .where('offer_trust_declined', '=', false)
    .where('trusted_with_offer', '=', follows);
  if (!follows) update = update.where('trust_state', '!=', 'trusted');
  const { numUpdatedRows } = await update.executeTakeFirst();
  return Number(numUpdatedRows);
}

function findServerOf(db: Queryable, offerId: string, owner: string) {
  const query = db.selectFrom('mcp_servers').selectAll().where('offer_id', '=', offerId);
  return query.where('owner_id', '=', owner).executeTakeFirst();
}

function notAdded(): ApiError {
  const message = 'Add this server for yourself first, to review its tools';
  return new ApiError('invalid_request', message, { details: [{ path: 'id', message }] });
}
