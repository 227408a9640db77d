import type { Access, EndpointSpec } from '@homeport/contracts/endpoint';
import { ApiError } from '@homeport/contracts/errors';
import type { Actor } from './handler.ts';

/**
 * Finds the signed-in caller of a cookie header, with what maintenance says if `asksMaintenance`; `setCookie` renews
 * the cookie.
 */
export type Identify = (
  cookie: string | undefined,
  asksMaintenance: boolean,
) => Promise<{ actor: Actor; setCookie?: string } | undefined>;

/** Finds the workspace of an authorization header, as its user. */
export type IdentifyWorkspace = (
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
  { identify, identifyWorkspace }: { identify: Identify; identifyWorkspace: IdentifyWorkspace },
  headers: { cookie?: string; authorization?: string },
  spec: Pick<EndpointSpec, 'method' | 'path' | 'modelToken'>,
): Promise<{ actor: Actor; setCookie?: string } | undefined> {
  if (access === 'public') return undefined;
  // Each kind of identity opens only its own endpoints (control-plane-api.md "Authentication" 6).
  const found: Awaited<ReturnType<Identify>> =
    access === 'workspace'
      ? await identifyWorkspace(headers.authorization, spec.modelToken === true)
      : await identify(headers.cookie, isClosedByMaintenance(spec));
  if (found === undefined) {
    const who = access === 'workspace' ? 'Give the token of a running workspace' : 'Sign in first';
    throw new ApiError('unauthorized', who);
  }
  if (!found.actor.enabled) throw new ApiError('account_disabled', 'This account is disabled');
  if (found.actor.mustChangePassword && access !== 'session-any-password') {
    throw new ApiError('password_change_required', 'Change your password first');
  }
  return found;
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

/** Role or permission, after identity and account state. */
export function assertPermission(access: Access, actor: Actor | undefined, permissions: Permissions): void {
  if (actor === undefined) return;
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
