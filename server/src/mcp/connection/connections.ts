import type { Duplex } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import type { Timer } from '../../platform/clock.ts';
import { mcpBounds } from '../bounds.ts';
import { recordScopeWanted, recordSignInNeeded } from '../connection-state.ts';
import { openMcpEnv, openMcpHeaders } from '../credentials.ts';
import { type GrantDeps, McpTokens } from '../oauth/grants.ts';
import type { McpServerRow } from '../views.ts';
import { type Listing, McpConnection } from './connection.ts';
import { isLostSession, mcpFailure, refusedAccess, serverWords } from './failures.ts';
import type { ReadToken } from './guarded-transport.ts';
import type { McpTarget } from './transports.ts';

/** Columns of a server that a connection needs. */
export type ConnectableServer = Pick<
  McpServerRow,
  'id' | 'owner_id' | 'revision' | 'url' | 'transport' | 'headers' | 'connection' | 'command' | 'args' | 'env'
>;

/** Key of a connection: this revision of a server, with the credentials of this owner. */
type Identity = Pick<McpServerRow, 'id' | 'owner_id' | 'revision'>;

type Deps = GrantDeps & { config: { version: string }; openProgram: OpenProgram };

/** Starts a program in a person's workspace; destroying the stream ends it. */
type OpenProgram = (
  ownerId: string,
  program: { command: string; args: readonly string[]; env: Record<string, string> },
  signal: AbortSignal,
) => Promise<Duplex>;

type Entry = {
  server: ConnectableServer;
  opening: Promise<McpConnection>;
  connection: McpConnection | undefined;
  usedAt: number;
  abort: AbortController;
};

/**
 * This replica's connections, one per server; a server belongs to one user. They close when idle; if there are too
 * many, the one that has been idle longest closes.
 */
export class McpConnections {
  readonly #deps: Deps;
  readonly #fetch: typeof fetch;
  readonly #tokens: McpTokens;
  readonly #entries = new Map<string, Entry>();
  readonly #failures = new Map<string, { server: Identity; until: number; error: ApiError }>();
  readonly #timer: Timer;
  #isClosed = false;

  constructor(deps: Deps, options: { idleMs?: number } = {}) {
    this.#deps = deps;
    this.#tokens = new McpTokens(deps);
    this.#fetch = deps.egress.fetchWithin({
      connectTimeoutMs: mcpBounds.connectMs,
      // Tools may take long to answer, and notification streams are mostly silent: time is limited per request, on top
      // of this.
      headersTimeoutMs: mcpBounds.callMs + 30_000,
      idleTimeoutMs: mcpBounds.callMs + 30_000,
      totalTimeoutMs: 24 * 3_600_000,
      maxResponseBytes: mcpBounds.streamBytes + 1,
      decodes: true,
    });
    const idleMs = options.idleMs ?? mcpBounds.idleMs;
    this.#timer = deps.clock.every(Math.min(30_000, idleMs), () => this.#closeIdle(idleMs));
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Lists the server's tools again, on a new connection if the old one is gone or has lost its session. Throws
   * `mcp_unreachable`, `blocked_destination`, `credentials_unreadable`.
   */
  async list(server: ConnectableServer): Promise<Listing> {
    try {
      const listing = await this.#listOnce(server);
      this.#failures.delete(server.id);
      return listing;
    } catch (error) {
      await this.noteRefusal(server, error);
      const failure = mcpFailure(error);
      const { id, owner_id, revision } = server;
      this.#failures.set(id, {
        server: { id, owner_id, revision },
        until: this.#deps.clock.now() + mcpBounds.backOffMs,
        error: failure,
      });
      throw failure;
    }
  }

  /** Records a refusal that requires the user to sign in. */
  async noteRefusal(server: ConnectableServer, error: unknown): Promise<void> {
    const refused = refusedAccess(error);
    if (refused?.challenge === undefined) return;
    const record = refused.status === 403 ? recordScopeWanted : recordSignInNeeded;
    await record(this.#deps.db.kysely, server, refused.challenge);
  }

  /** The valid listing if there is one, otherwise a new one; a server that has just failed fails at once. */
  async current(server: ConnectableServer): Promise<Listing> {
    const standing = this.standing(server);
    if (standing !== undefined) return standing;
    const failure = this.#failures.get(server.id);
    if (failure !== undefined && isSame(failure.server, server) && failure.until > this.#deps.clock.now()) {
      throw failure.error;
    }
    return this.list(server);
  }

  /** The listing of an open connection, if nothing can have changed. */
  standing(server: ConnectableServer): Listing | undefined {
    const entry = this.#entries.get(server.id);
    if (entry === undefined || !isSame(entry.server, server)) return undefined;
    const standing = entry.connection?.standing;
    if (standing !== undefined) entry.usedAt = this.#deps.clock.now();
    return standing;
  }

  /** True while a usable connection to the server as it is now is open. */
  isOpen(server: Identity): boolean {
    const entry = this.#entries.get(server.id);
    return entry !== undefined && isSame(entry.server, server) && entry.connection?.isUsable === true;
  }

  /** The server's connection, opened if necessary. */
  async open(server: ConnectableServer): Promise<McpConnection> {
    if (this.#isClosed) throw new ApiError('mcp_unreachable', 'The service is stopping.');
    const known = this.#entries.get(server.id);
    if (known !== undefined) {
      known.usedAt = this.#deps.clock.now();
      if (isSame(known.server, server) && known.connection?.isUsable !== false) return known.opening;
      this.#drop(known);
    }
    this.#makeRoom(server.owner_id);
    const { url, transport } = server;
    // Headers of an earlier address can still be stored.
    const headers = transport === 'stdio' ? {} : openMcpHeaders(this.#deps, server);
    const abort = new AbortController();
    const { clock, config } = this.#deps;
    const opening = McpConnection.open(
      { fetch: this.#fetch, version: config.version, now: clock.now },
      { url, transport, headers, readToken: this.#tokenReader(server), program: this.#programOf(server) },
      abort.signal,
    );
    const entry: Entry = { server, opening, connection: undefined, usedAt: clock.now(), abort };
    this.#entries.set(server.id, entry);
    opening.then(
      (connection) => {
        entry.connection = connection;
        if (this.#entries.get(server.id) !== entry) connection.close();
      },
      () => this.#forget(entry),
    );
    return opening;
  }

  /** Closes the connection of a server that was changed or deleted. */
  drop(serverId: string): void {
    const entry = this.#entries.get(serverId);
    if (entry !== undefined) this.#drop(entry);
    this.#failures.delete(serverId);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.stop();
    for (const entry of [...this.#entries.values()]) this.#drop(entry);
  }

  #programOf(server: ConnectableServer): McpTarget['program'] {
    const { command, args, owner_id: owner } = server;
    if (server.transport !== 'stdio' || command === null || args === null) return undefined;
    const env = openMcpEnv(this.#deps, server);
    return {
      command,
      args,
      secrets: Object.values(env),
      open: (signal) => this.#deps.openProgram(owner, { command, args, env }, signal).catch(noWorkspace),
    };
  }

  /** The server's token, read again when it is due or refused; signing out opens a new connection. */
  #tokenReader(server: ConnectableServer): ReadToken | undefined {
    if (server.connection !== 'connected') return undefined;
    let known: { token: string; until: number } | undefined;
    return async (refused) => {
      if (known === undefined || known.token === refused || known.until <= this.#deps.clock.now()) {
        known = await this.#tokens.read(server, refused);
      }
      return known?.token;
    };
  }

  async #listOnce(server: ConnectableServer): Promise<Listing> {
    const isNew = this.#entries.get(server.id)?.connection?.isUsable !== true;
    const connection = await this.open(server);
    try {
      return await connection.list();
    } catch (error) {
      const entry = this.#entries.get(server.id);
      if (entry?.connection === connection) this.#drop(entry);
      // Some servers report a lost session as an error of the request itself.
      const isWorthAnother = isLostSession(error) || isConnectionFailure(error) || serverWords(error) !== undefined;
      if (isNew || !isWorthAnother) throw error;
    }
    const again = await this.open(server);
    return again.list();
  }

  #drop(entry: Entry): void {
    this.#forget(entry);
    entry.abort.abort(new ApiError('mcp_unreachable', 'The connection to the MCP server was closed.'));
    entry.connection?.close();
  }

  #forget(entry: Entry): void {
    if (this.#entries.get(entry.server.id) === entry) this.#entries.delete(entry.server.id);
  }

  #makeRoom(owner: string): void {
    const all = [...this.#entries.values()];
    const own = all.filter((entry) => entry.server.owner_id === owner);
    if (own.length >= mcpBounds.connectionsPerOwner) this.#dropLongestIdle(own);
    else if (all.length >= mcpBounds.connections) this.#dropLongestIdle(all);
  }

  #dropLongestIdle(entries: Entry[]): void {
    const idle = entries.filter((entry) => entry.connection !== undefined && !entry.connection.isBusy);
    const oldest = idle.sort((one, other) => one.usedAt - other.usedAt)[0];
    if (oldest === undefined) {
      throw new ApiError('mcp_unreachable', 'Too many MCP servers are in use right now. Try again.');
    }
    this.#drop(oldest);
  }

  #closeIdle(idleMs: number): void {
    const now = this.#deps.clock.now();
    for (const entry of [...this.#entries.values()]) {
      const { connection } = entry;
      if (connection === undefined || connection.isBusy) continue;
      if (!connection.isUsable || now - entry.usedAt > idleMs) this.#drop(entry);
    }
    for (const [id, failure] of this.#failures) if (failure.until < now) this.#failures.delete(id);
  }
}

/** Why a program cannot run, as the reason that its server cannot be used. */
function noWorkspace(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  const message = `The MCP server could not be used: it runs in the workspace, which does not. ${error.message}`;
  throw new ApiError('mcp_unreachable', message, { details: { reason: 'workspace' } });
}

function isConnectionFailure(error: unknown): boolean {
  const { code, details } = mcpFailure(error);
  const reason = typeof details === 'object' && details !== null && 'reason' in details ? details.reason : undefined;
  return code === 'mcp_unreachable' && (reason === 'reset' || reason === 'refused');
}

function isSame(one: Identity, other: Identity): boolean {
  return one.id === other.id && one.owner_id === other.owner_id && one.revision === other.revision;
}
