import type { adminEndpoints } from '@homeport/contracts/admin';
import { listEvents } from '../audit/audit-list.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import { type Handler, Reply, type RequestFacts, sourceOf } from '../http/handler.ts';
import { ownOrigin } from '../http/origin.ts';
import {
  createInvitation,
  listInvitations,
  openInvitation,
  readInviterName,
  redeemInvitation,
  revokeInvitation,
} from './invitations.ts';
import { cookieRule, sessionCookie } from './session-cookie.ts';
import { administerAll, administerSeveral, administerUser, createUser } from './user-administration.ts';

/** The dependencies of the user administration endpoints. */
type AdminDeps = Pick<Deps, 'db' | 'clock' | 'accountDisabled'> & {
  config: Pick<Config, 'edition' | 'baseUrl' | 'host' | 'authSecret'>;
};
type AdminHandler<Name extends keyof typeof adminEndpoints> = Handler<AdminDeps, (typeof adminEndpoints)[Name]>;

/** POST /api/admin/users */
export const postAdminUser: AdminHandler<'postAdminUser'> = async (deps, input) => ({
  user: await createUser(deps, input.body, sourceOf(input)),
});

/** PATCH /api/admin/users: one account, several, or a switch for all. */
export const patchAdminUser: AdminHandler<'patchAdminUser'> = async (deps, input) => {
  const { body, actor } = input;
  if ('all' in body) return { ok: true, updated: await administerAll(deps, body, sourceOf(input)) };
  if ('ids' in body) {
    const changed = await administerSeveral(deps, actor, body, sourceOf(input));
    if (body.enabled === false) await Promise.all(changed.map((id) => deps.accountDisabled(id)));
    return { ok: true, updated: changed.length };
  }
  const user = await administerUser(deps, actor, body, sourceOf(input));
  if (body.enabled === false) await deps.accountDisabled(user.id);
  return { user };
};

/** GET /api/invitations: the list, or with `token` the invitation it belongs to. */
export const getInvitations: AdminHandler<'getInvitations'> = async (deps, { query, request }) =>
  query.token === undefined
    ? listInvitations(deps, query)
    : { invitation: await openInvitation(deps, query.token, request.address) };

/** GET /api/invitations/inviter */
export const getInviter: AdminHandler<'getInviter'> = async (deps, { query, request }) => ({
  name: await readInviterName(deps, query.token, request.address),
});

/** POST /api/invitations */
export const postInvitation: AdminHandler<'postInvitation'> = async (deps, input) => {
  const { invitation, token } = await createInvitation(deps, input.body, input.actor.id, sourceOf(input));
  return { invitation, token, url: invitationUrl(ownOrigin(deps.config, input.request), token) };
};

/** PUT /api/invitations */
export const putInvitation: AdminHandler<'putInvitation'> = async (deps, { body, request }) => {
  const { user, token } = await redeemInvitation(deps, body, originOf(request), request.id);
  return new Reply({ user }, { headers: [['set-cookie', sessionCookie(cookieRule(deps.config), token)]] });
};

/** DELETE /api/invitations?id= */
export const deleteInvitation: AdminHandler<'deleteInvitation'> = async (deps, input) => ({
  ok: true,
  invitation: await revokeInvitation(deps, input.query.id, sourceOf(input)),
});

/** GET /api/admin/audit */
export const getAudit: AdminHandler<'getAudit'> = (deps, { query }) => listEvents(deps, query);

/** The token is in the fragment, which browsers never send: it appears in no log and no Referer. */
function invitationUrl(origin: string, token: string): string {
  return `${origin}/invitation#token=${token}`;
}

function originOf(request: RequestFacts) {
  return { address: request.address, userAgent: request.headers.get('user-agent') };
}
