import { ApiError } from '@homeport/contracts/errors';
import type { McpServer } from '@homeport/contracts/mcp/mcp';
import type { Logger } from 'pino';
import { ownAddress, withError } from '../../accounts/own-address.ts';
import { type AuditSource, recordEvent } from '../../audit/audit.ts';
import { inTransaction, type Queryable } from '../../db/pool.ts';
import { hostOf, isLocalhost, isPrivateName } from '../../egress/destination.ts';
import { recordConnection } from '../connection-state.ts';
import { openClientSecret } from '../credentials.ts';
import { getOwnedMcpServer, targetOf } from '../servers.ts';
import { askAfterChange, type TrustDeps } from '../trust.ts';
import { type McpServerRow, mcpServerView } from '../views.ts';
import { endGrant, type GrantDeps, grantOf, readAnyHeld, storeHeld } from './grants.ts';
import {
  type AuthorizationServer,
  authorizeAddress,
  discoverSignIn,
  joinScopes,
  type OAuthClient,
  redeemCode,
  refusal,
} from './protocol.ts';
import { isForgotten, registerHere } from './registration.ts';
import { type BegunMcpSignIn, insertMcpState, newState, takeMcpState } from './states.ts';

/** Signing in to MCP servers by OAuth, and out again (contract.md section 11, "Agent"). */

export type SignInDeps = GrantDeps & TrustDeps & { log: Pick<Logger, 'warn'> };
/** The user and session of the browser, and our public origin as it sees us. */
export type SignInRequest = { owner: string; sessionId: string; origin: string; productName: string };

export const callbackPath = '/api/mcp/oauth/callback';
export const clientPath = '/api/mcp/oauth/client';
const usualPage = '/settings/tools';

/** Why a sign-in came to nothing, as the page that it returns to learns it. */
type Refused = 'mcp_state' | 'mcp_denied' | 'mcp_changed' | 'mcp_failed';

/**
 * Begins a sign-in: the address for the browser. Throws `not_found`, `invalid_request` for a foreign page,
 * `blocked_destination`, `mcp_unreachable`, `credentials_unreadable`.
 */
export async function beginMcpSignIn(
  deps: SignInDeps,
  request: SignInRequest,
  input: { id: string; returnTo?: string },
): Promise<{ authorizeUrl: string }> {
  const row = await getOwnedMcpServer(deps.db.kysely, request.owner, input.id);
  if (row.transport === 'stdio')
    throw refusal('no_sign_in', 'a program has no sign-in; give it a key in its environment');
  const returnTo = ownAddress(input.returnTo ?? usualPage, request.origin);
  if (returnTo === undefined) {
    const message = 'Only addresses of this installation are allowed';
    throw new ApiError('invalid_request', message, { details: [{ path: 'returnTo', message }] });
  }
  const wanted = await readWanted(deps, row.id);
  const found = await discoverSignIn(deps, row.url, wanted);
  const redirectUri = request.origin + callbackPath;
  const { held } = await readAnyHeld(deps, deps.db.kysely, row);
  const scope = joinScopes(
    held.grant?.server.issuer === found.server.issuer ? held.grant.scope : undefined,
    found.scope,
  );
  const state = newState();
  const ask = { redirectUri, state, scope, resource: found.resource };
  const { client, isGiven, url, codeVerifier } = await askClient(deps, request, row, found.server, ask);
  await insertMcpState({ db: deps.db.kysely, secrets: deps.secrets }, state, request.sessionId, {
    serverId: row.id,
    revision: row.revision,
    server: found.server,
    client,
    isGiven,
    redirectUri,
    codeVerifier,
    resource: found.resource,
    returnTo,
    ...(scope === undefined ? {} : { scope }),
  });
  return { authorizeUrl: url };
}

/**
 * Ends a sign-in at our callback address: the page to go to, with `mcp=<server id>`, or `error=` and the reason. Then
 * lists the tools that the server offers to the signed-in user.
 */
export async function finishMcpSignIn(
  deps: SignInDeps,
  request: SignInRequest,
  answer: {
    state?: string;
    code?: string;
    iss?: string;
    error?: string;
  },
  source: AuditSource,
): Promise<string> {
  const needs = { db: deps.db.kysely, secrets: deps.secrets };
  const begun = answer.state === undefined ? undefined : await takeMcpState(needs, answer.state, request.sessionId);
  const page = ownAddress(begun?.returnTo ?? usualPage, request.origin) ?? usualPage;
  const refuse = (reason: Refused): string => withError(page, request.origin, reason);
  if (begun === undefined) return refuse('mcp_state');
  if (answer.code === undefined) return refuse(answer.error === 'access_denied' ? 'mcp_denied' : 'mcp_failed');
  try {
    const tokens = await redeemCode(deps, begun.server, begun.client, {
      code: answer.code,
      iss: answer.iss,
      codeVerifier: begun.codeVerifier,
      redirectUri: begun.redirectUri,
      resource: begun.resource,
    });
    const grant = grantOf(deps, tokens, begun);
    const row = await inTransaction(deps.db, (trx) => storeSignIn(deps, trx, request.owner, begun, grant, source));
    if (row === undefined) return refuse('mcp_changed');
    deps.mcp.drop(row.id);
    await askAfterChange(deps, row);
    return withServer(page, request.origin, row.id);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isReason(error, 'forgotten')) await forgetRegistration(deps, request.owner, begun);
    deps.log.warn(
      { reason: error.details, code: error.code, server: begun.serverId },
      'failed to sign in to an MCP server',
    );
    return refuse(error.code === 'not_found' ? 'mcp_changed' : 'mcp_failed');
  }
}

function isReason({ details }: ApiError, reason: string): boolean {
  return typeof details === 'object' && details !== null && 'reason' in details && details.reason === reason;
}

/** Forgets a registration that the authorization server has forgotten; a later one stays. */
async function forgetRegistration(deps: SignInDeps, owner: string, begun: BegunMcpSignIn): Promise<void> {
  const row = await getOwnedMcpServer(deps.db.kysely, owner, begun.serverId);
  const { held, generation } = await readAnyHeld(deps, deps.db.kysely, row);
  if (held.registered?.client.clientId !== begun.client.clientId) return;
  const { registered: _, ...rest } = held;
  await storeHeld(deps, deps.db.kysely, row, { held: rest, generation });
}

async function storeSignIn(
  deps: SignInDeps,
  trx: Queryable,
  owner: string,
  begun: BegunMcpSignIn,
  grant: ReturnType<typeof grantOf>,
  source: AuditSource,
): Promise<McpServerRow | undefined> {
  const asked = { id: begun.serverId, revision: begun.revision };
  const issuer = begun.isGiven ? { client_issuer: begun.server.issuer } : {};
  const row = await recordConnection(trx, asked, { connection: 'connected', ...issuer });
  if (row === undefined || row.owner_id !== owner) return undefined;
  await trx.selectFrom('mcp_grants').select('server_id').where('server_id', '=', row.id).forUpdate().execute();
  const { held, generation } = await readAnyHeld(deps, trx, row);
  await storeHeld(deps, trx, row, { held: { ...held, grant }, generation });
  await trx.updateTable('mcp_grants').set({ wanted: null }).where('server_id', '=', row.id).execute();
  const details = { issuer: begun.server.issuer, owner };
  await recordEvent(trx, source, { action: 'mcp_server.connected', ...targetOf(row.id), details });
  return row;
}

/** Signs out and forgets the registration: the tokens are deleted here before they are revoked at the server. */
export async function endMcpSignIn(
  deps: SignInDeps,
  owner: string,
  id: string,
  source: AuditSource,
): Promise<McpServer> {
  const row = await getOwnedMcpServer(deps.db.kysely, owner, id);
  const ended = await inTransaction(deps.db, async (trx) => {
    await trx.selectFrom('mcp_grants').select('server_id').where('server_id', '=', id).forUpdate().execute();
    const { held, generation } = await readAnyHeld(deps, trx, row);
    const connection = row.connection === 'none' ? 'none' : 'needed';
    const changed = await recordConnection(trx, row, { connection });
    if (changed === undefined) throw new ApiError('not_found', 'MCP server not found');
    await storeHeld(deps, trx, row, { held: {}, generation });
    await recordEvent(trx, source, { action: 'mcp_server.disconnected', ...targetOf(id), details: { owner } });
    return { changed, held };
  });
  deps.mcp.drop(id);
  await endGrant(deps, ended.held);
  return mcpServerView(deps, ended.changed);
}

async function readWanted(deps: SignInDeps, id: string) {
  const row = await deps.db.kysely
    .selectFrom('mcp_grants')
    .select('wanted')
    .where('server_id', '=', id)
    .executeTakeFirst();
  return row?.wanted ?? {};
}

type Ask = Parameters<typeof authorizeAddress>[3];

/** Our client and the address for the browser. A stored registration that the server has forgotten is made again. */
async function askClient(
  deps: SignInDeps,
  request: SignInRequest,
  row: McpServerRow,
  server: AuthorizationServer,
  ask: Ask,
): Promise<{ client: OAuthClient; isGiven: boolean; url: string; codeVerifier: string }> {
  const found = await clientFor(deps, request, row, server, ask.redirectUri);
  const address = await authorizeAddress(deps, server, found.client, ask);
  if (!found.isStored || !(await isForgotten(deps, address.url))) return { ...found, ...address };
  const client = await register(deps, request, row, server, ask.redirectUri);
  return { client, isGiven: false, ...(await authorizeAddress(deps, server, client, ask)) };
}

/** Our client there: the configured one, else our client metadata document, else a dynamic registration. */
async function clientFor(
  deps: SignInDeps,
  request: SignInRequest,
  row: McpServerRow,
  server: AuthorizationServer,
  redirectUri: string,
): Promise<{ client: OAuthClient; isGiven: boolean; isStored: boolean }> {
  if (row.client_id !== null) {
    if (row.client_issuer !== null && row.client_issuer !== server.issuer) {
      throw refusal('issuer', 'it now asks you to sign in elsewhere; enter the client id again if that is right');
    }
    const clientSecret = openClientSecret(deps, row);
    return {
      client: { clientId: row.client_id, ...(clientSecret === undefined ? {} : { clientSecret }) },
      isGiven: true,
      isStored: false,
    };
  }
  if (server.readsDocuments && isReachableFrom(request.origin, server.issuer)) {
    return { client: { clientId: request.origin + clientPath }, isGiven: false, isStored: false };
  }
  // A registration is valid for its issuer and one redirect address of ours.
  const { registered } = (await readAnyHeld(deps, deps.db.kysely, row)).held;
  if (registered?.issuer === server.issuer && registered.redirectUri === redirectUri) {
    return { client: registered.client, isGiven: false, isStored: true };
  }
  return { client: await register(deps, request, row, server, redirectUri), isGiven: false, isStored: false };
}

/** Registers this installation, and stores the registration with the server. */
async function register(
  deps: SignInDeps,
  request: SignInRequest,
  row: McpServerRow,
  server: AuthorizationServer,
  redirectUri: string,
): Promise<OAuthClient> {
  if (server.registrationEndpoint === undefined) {
    throw refusal('client_id', 'it wants a client id; register Homeport there and enter the id with this server');
  }
  const { origin, productName: name } = request;
  const client = await registerHere(deps, server, { name, origin, redirectUri });
  const known = await readAnyHeld(deps, deps.db.kysely, row);
  const held = { ...known.held, registered: { issuer: server.issuer, redirectUri, client } };
  await storeHeld(deps, deps.db.kysely, row, { held, generation: known.generation });
  return client;
}

/** Whether an authorization server can read a document at our origin: over https, and not from another network. */
function isReachableFrom(origin: string, issuer: string): boolean {
  const isLocal = (address: string): boolean => {
    const host = hostOf(new URL(address).hostname);
    return isLocalhost(host) || isPrivateName(host) || /^[\d.]+$|:/.test(host);
  };
  return origin.startsWith('https:') && (!isLocal(origin) || isLocal(issuer));
}

function withServer(page: string, origin: string, id: string): string {
  const url = new URL(page, origin);
  for (const name of ['error', 'mcp']) url.searchParams.delete(name);
  url.searchParams.set('mcp', id);
  return ownAddress(page.startsWith('/') ? url.pathname + url.search + url.hash : url.href, origin) ?? usualPage;
}
