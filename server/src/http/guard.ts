import type { IncomingMessage } from 'node:http';
import { grantsScope } from '@homeport/contracts/accounts/token-scopes';
import type { Access, EndpointSpec } from '@homeport/contracts/endpoint';
import { ApiError } from '@homeport/contracts/errors';
import { invalidToken, isAccessToken, shownToken } from './credentials.ts';
import type { Actor } from './handler.ts';

/**
 * Finds the signed-in caller of a cookie header, with what maintenance says if `asksMaintenance`; `setCookie` renews
 * the cookie.
 */
export type Identify = (
  cookie: string | undefined,
  asksMaintenance: boolean,
) => Promise<{ actor: Actor; setCookie?: string } | undefined>;

/** Finds the owner of an access token that works. */
export type IdentifyToken = (
  secret: string,
  from: { address: string; requestId: string },
) => Promise<{ actor: Actor } | undefined>;

/** Finds the workspace of an authorization header, as its user. */
type IdentifyWorkspace = (
  authorization: string | undefined,
  isForModels: boolean,
) => Promise<{ actor: Actor } | undefined>;

/** Permissions that features define for access words that need more than a session. */
export type Permissions = {
  canEditProviders(actor: Actor): boolean;
  /** True where only administrators edit providers, whatever the account's own switch says. */
  providersAreShared: boolean;
  canEditMcp(actor: Actor): boolean;
};

/** Identity and account state (contract.md section 1, order of checks); undefined only for public endpoints. */
export async function identifyCaller(
  access: Access,
  finders: Finders,
  request: CallerRequest,
  spec: Pick<EndpointSpec, 'method' | 'path' | 'modelToken'>,
): Promise<{ actor: Actor; setCookie?: string } | undefined> {
  if (access === 'public') return undefined;
  const found = await findCaller(access, finders, request, spec);
  if (!found.actor.enabled) throw new ApiError('account_disabled', 'This account is disabled');
  if (found.actor.mustChangePassword && access !== 'session-any-password') {
    throw new ApiError('password_change_required', 'Change your password first');
  }
  return found;
}

/** Look-ups of the caller, one for each kind of credential. */
export type Finders = { identify: Identify; identifyToken: IdentifyToken; identifyWorkspace: IdentifyWorkspace };
/** A request whose caller is sought; `address` and `requestId` are recorded with the use of a token. */
export type CallerRequest = {
  incoming: Pick<IncomingMessage, 'headers' | 'headersDistinct'>;
  address: string;
  requestId: string;
};

/**
 * The only place that decides whose request it is, for every way to carry a credential: the cookie of a session, an
 * access token in `Authorization` or `x-api-key`, the token of a workspace. Each kind opens only its own endpoints
 * (control-plane-api.md "Authentication" 6). With an access token, cookies do not count. Throws `invalid_api_key` and
 * `unauthorized`.
 */
async function findCaller(
  access: Access,
  { identify, identifyToken, identifyWorkspace }: Finders,
  { incoming, ...from }: CallerRequest,
  spec: Pick<EndpointSpec, 'method' | 'path' | 'modelToken'>,
): Promise<{ actor: Actor; setCookie?: string }> {
  const { cookie, authorization } = incoming.headers;
  if (access === 'workspace') {
    const workspace = await identifyWorkspace(authorization, spec.modelToken === true);
    if (workspace !== undefined) return workspace;
    throw new ApiError('unauthorized', 'Give the token of a running workspace');
  }
  const token = shownToken(incoming, spec.path);
  if (access === 'token' || (token !== undefined && isAccessToken(token))) {
    const owner = token === undefined ? undefined : await identifyToken(token, from);
    if (owner !== undefined) return owner;
    throw invalidToken(token === undefined ? 'Send an access token: Authorization: Bearer hp_…' : undefined);
  }
  // A bearer of another kind may come from a proxy in front of us that signs people in: their session counts.
  const found = await identify(cookie, isClosedByMaintenance(spec));
  if (found !== undefined) return found;
  if (token === undefined || isWorkspaceToken(token)) throw new ApiError('unauthorized', 'Sign in first');
  throw invalidToken();
}

function isWorkspaceToken(token: string): boolean {
  return /^w[sm]t_/.test(token);
}

const maintenanceText = 'This installation is being maintained: you can read everything, and write again soon.';

/** Whether only administrators may call this during maintenance: everybody can read, sign in and sign out. */
export function isClosedByMaintenance({ method, path }: Pick<EndpointSpec, 'method' | 'path'>): boolean {
  return method !== 'GET' && !path.startsWith('/api/auth/');
}

/**
 * The caller's statement says whether there is maintenance, where this matters, so that it holds from the next request
 * on.
 */
export function assertOpen(spec: Pick<EndpointSpec, 'method' | 'path'>, actor: Actor | undefined): void {
  const message = actor?.maintenance ?? null;
  if (message === null || actor?.role === 'admin' || !isClosedByMaintenance(spec)) return;
  throw new ApiError('maintenance', message === '' ? maintenanceText : message, { retryAfter: 60 });
}

/** Scope, role or permission, after identity and account state. */
export function assertPermission(
  access: Access,
  { scope }: Pick<EndpointSpec, 'scope'>,
  actor: Actor | undefined,
  permissions: Permissions,
): void {
  if (actor === undefined) return;
  if (actor.scopes !== undefined && (scope === undefined || !grantsScope(actor.scopes, scope))) {
    const needs = scope === undefined ? 'No access token can do this' : `This needs an access token with ${scope}`;
    throw new ApiError('insufficient_scope', needs, { details: { scope: scope ?? null } });
  }
  if ((access === 'admin' || access === 'admin-for-user') && actor.role !== 'admin') {
    throw new ApiError('forbidden', 'Only administrators can do this');
  }
  if (access === 'provider-editor' && !permissions.canEditProviders(actor)) {
    if (permissions.providersAreShared)
      throw new ApiError('forbidden', 'Only administrators can edit the shared catalogue');
    throw new ApiError('provider_settings_disabled', 'Provider settings are managed by an administrator');
  }
  if (access === 'mcp-editor' && !permissions.canEditMcp(actor)) {
    throw new ApiError('mcp_settings_disabled', 'MCP settings are managed by an administrator');
  }
}

/** Refuses members of a body that need a session (`closedToTokens`), once the body is read. */
export function assertMembers(
  { closedToTokens = [] }: Pick<EndpointSpec, 'closedToTokens'>,
  actor: Actor | undefined,
  body: unknown,
): void {
  if (actor?.scopes === undefined || typeof body !== 'object' || body === null) return;
  const closed = closedToTokens.find((name) => Reflect.get(body, name) !== undefined);
  if (closed === undefined) return;
  throw new ApiError('insufficient_scope', `No access token can change ${closed}`, { details: { scope: null } });
}
