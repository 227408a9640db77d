import type { mcpOfferEndpoints } from '@homeport/contracts/mcp/offers';
import type { Deps } from '../deps.ts';
import { type Handler, sourceOf } from '../http/handler.ts';
import { trustOffer, withdrawOfferTrust } from './offer-trust.ts';
import { changeOffer, countOffers, createOffer, listOffers, removeOffer } from './offers.ts';

type HandlerDeps = Pick<Deps, 'db' | 'mcp' | 'secrets'>;
type OfferHandler<Name extends keyof typeof mcpOfferEndpoints> = Handler<HandlerDeps, (typeof mcpOfferEndpoints)[Name]>;

/** GET /api/mcp/offers */
export const getMcpOffers: OfferHandler<'getMcpOffers'> = async (deps, { actor }) => ({
  offers: await listOffers(deps, actor.id),
});

/** GET /api/admin/mcp/offers */
export const getAdminMcpOffers: OfferHandler<'getAdminMcpOffers'> = async (deps) => ({
  offers: await countOffers(deps.db.kysely),
});

/** POST /api/admin/mcp/offers */
export const postAdminMcpOffer: OfferHandler<'postAdminMcpOffer'> = async (deps, input) => ({
  offer: await createOffer(deps, input.body, sourceOf(input)),
});

/** PATCH /api/admin/mcp/offers */
export const patchAdminMcpOffer: OfferHandler<'patchAdminMcpOffer'> = async (deps, input) => {
  const { offer, moved } = await changeOffer(deps, input.body, sourceOf(input));
  for (const id of moved) deps.mcp.drop(id);
  return { offer };
};

/** DELETE /api/admin/mcp/offers */
export const deleteAdminMcpOffer: OfferHandler<'deleteAdminMcpOffer'> = async (deps, input) => {
  for (const id of await removeOffer(deps, input.query.id, sourceOf(input))) deps.mcp.drop(id);
  return { ok: true };
};

/** POST /api/admin/mcp/offers/trust */
export const postAdminMcpOfferTrust: OfferHandler<'postAdminMcpOfferTrust'> = async (deps, input) => ({
  offer: await trustOffer(deps, input.actor.id, input.body, sourceOf(input)),
});

/** DELETE /api/admin/mcp/offers/trust */
export const deleteAdminMcpOfferTrust: OfferHandler<'deleteAdminMcpOfferTrust'> = async (deps, input) => {
  await withdrawOfferTrust(deps, input.query.id, sourceOf(input));
  return { ok: true };
};
