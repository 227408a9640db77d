import type { tokenEndpoints } from '@homeport/contracts/accounts/tokens';
import type { Deps } from '../../deps.ts';
import { type Handler, sourceOf } from '../../http/handler.ts';
import { createToken, deleteToken, listAllTokens, listTokens } from './tokens.ts';

type TokenHandler<Name extends keyof typeof tokenEndpoints> = Handler<
  Pick<Deps, 'db' | 'clock'>,
  (typeof tokenEndpoints)[Name]
>;

/** GET /api/me/tokens */
export const getMyTokens: TokenHandler<'getMyTokens'> = (deps, { actor }) => listTokens(deps, actor);

/** POST /api/me/tokens */
export const postMyToken: TokenHandler<'postMyToken'> = (deps, input) =>
  createToken(deps, input.actor, input.body, sourceOf(input));

/** DELETE /api/me/tokens?id= */
export const deleteMyToken: TokenHandler<'deleteMyToken'> = async (deps, input) => {
  await deleteToken(deps, { id: input.query.id, ownerId: input.actor.id }, sourceOf(input));
  return { ok: true };
};

/** GET /api/admin/tokens */
export const getAdminTokens: TokenHandler<'getAdminTokens'> = (deps, { query }) => listAllTokens(deps, query);

/** DELETE /api/admin/tokens?id= */
export const deleteAdminToken: TokenHandler<'deleteAdminToken'> = async (deps, input) => {
  await deleteToken(deps, { id: input.query.id }, sourceOf(input));
  return { ok: true };
};
