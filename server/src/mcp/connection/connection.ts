import type { McpTool } from '@homeport/contracts/mcp/mcp';
import type { CallToolResult, Client, ElicitResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { systemClock } from '../../platform/clock.ts';
import { type TimeLimit, within } from '../../platform/waits.ts';
import { mcpBounds } from '../bounds.ts';
import { BadDefinitions, type Definitions, type ProgramIdentity, readDefinitions } from '../fingerprint.ts';
import { contentOf, type Elicitation, type ElicitationAnswer, readElicitation } from './elicitation.ts';
import {
  isTimeout,
  isWorthAnOlderHandshake,
  isWorthTheOlderTransport,
  mcpFailure,
  refusedAccess,
  serverWords,
  wroteOtherwise,
} from './failures.ts';
import { BrokenBound, type TransportEvents } from './guarded-transport.ts';
import { boundMessages, failUnanswered, tellRefusals, trackCancellations } from './message-rules.ts';
import { ProgramTransport } from './program-transport.ts';
import { logLine, progressLine } from './progress-lines.ts';
import { type McpTarget, openTransport } from './transports.ts';

/**
 * `changes`: how often the server had announced changed tools when the listing began.
 */
export type Listing = Definitions & { at: number; changes: number };

/** Callbacks of a running call: progress lines, and questions to the person. */
export type CallObserver = {
  onProgress(line: string): void;
  onAsked?: ((asked: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>) | undefined;
};

type ConnectionDeps = { fetch: typeof fetch; version: string; now: () => number };

/**
 * A page of definitions as the server wrote it: the library's own schema would drop members that the fingerprint
 * covers.
 */
const page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.unknown().optional() });

/**
 * One connection to one MCP server of one user. It uses tokens but never asks for any, never follows another origin,
 * and offers the server nothing but questions to the person whose call runs: no sampling, no roots.
 */
export class McpConnection {
  readonly #client: Client;
  readonly #deps: ConnectionDeps;
  readonly #transport: McpTarget['transport'];
  #changes = 0;
  #streams = 0;
  #isClosed = false;
  #failure: unknown;
  #listing: Listing | undefined;
  #running: Promise<Listing> | undefined;
  #next: Promise<Listing> | undefined;
  #calls = 0;
  readonly #observers = new Set<CallObserver & { asked: number; signal: AbortSignal }>();
  #isRetired = false;
  #program: ProgramIdentity | undefined;
  /** Resolves when the notices about canceled requests have been sent. */
  #cancellations: () => Promise<void> = async () => undefined;

  private constructor(deps: ConnectionDeps, client: Client, transport: McpTarget['transport']) {
    this.#deps = deps;
    this.#client = client;
    this.#transport = transport;
  }

  /** Connects and shakes hands. Throws `mcp_unreachable` or `blocked_destination`. */
  static async open(deps: ConnectionDeps, target: McpTarget, signal: AbortSignal): Promise<McpConnection> {
    const limit = target.program === undefined ? mcpBounds.connectMs : mcpBounds.programStartMs;
    return within(limitOf(limit, signal), (own) => McpConnection.#open(deps, target, own)).catch((error) => {
      throw mcpFailure(error);
    });
  }

  static async #open(deps: ConnectionDeps, target: McpTarget, signal: AbortSignal): Promise<McpConnection> {
    // The newest protocol is tried first; a server that cannot handle it gets the older handshake.
    const modes = target.transport === 'http' ? (['auto', 'legacy'] as const) : (['legacy'] as const);
    let failure: unknown;
    for (const mode of modes) {
      try {
        return await McpConnection.#openAs(mode, deps, target, signal);
      } catch (error) {
        failure = error;
        if (signal.aborted || !isWorthAnOlderHandshake(error)) break;
      }
    }
    if (target.transport !== 'http' || signal.aborted || !isWorthTheOlderTransport(failure)) throw failure;
    // Many people enter the address of an SSE server without naming the transport.
    const sse = { ...target, transport: 'sse' as const };
    return within(limitOf(mcpBounds.olderTransportMs, signal), (own) =>
      McpConnection.#openAs('legacy', deps, sse, own),
    ).catch((error) => {
      throw refusedAccess(error) === undefined ? failure : error;
    });
  }

  static async #openAs(
    mode: 'auto' | 'legacy',
    deps: ConnectionDeps,
    target: McpTarget,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    const library = await import('@modelcontextprotocol/client');
    const client: Client = new library.Client(
      { name: 'homeport', version: deps.version },
      {
        versionNegotiation: { mode, probe: { timeoutMs: mcpBounds.probeMs } },
        capabilities: { elicitation: { form: {}, url: {} } },
        inputRequired: { autoFulfill: true, maxRounds: mcpBounds.elicitations },
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => connection.#changed() } },
      },
    );
    const connection: McpConnection = new McpConnection(deps, client, target.transport);
    client.setNotificationHandler('notifications/message', ({ params }) => connection.#onLog(params));
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
      connection.#elicit(params, mcpReq.signal),
    );
    client.onclose = () => connection.#end();
    client.onerror = () => undefined;
    const events: TransportEvents = {
      onFailure: (error) => {
        connection.#failure = error;
      },
      onBroken: (error) => connection.#break(error),
      onStream: (change) => connection.#onStream(change),
    };
    const transport = await openTransport(library, deps, target, events, signal, () => connection.isBusy);
    const onSeen = transport instanceof library.StreamableHTTPClientTransport ? failUnanswered(transport) : undefined;
    if (transport instanceof library.SSEClientTransport) tellRefusals(transport);
    connection.#cancellations = trackCancellations(transport);
    boundMessages(transport, (reason) => connection.#break(new BrokenBound(reason)), onSeen);
    try {
      const timeout = target.program === undefined ? mcpBounds.connectMs : mcpBounds.programStartMs;
      await client.connect(transport, { timeout, signal });
      signal.throwIfAborted();
      void client.autoOpenedSubscription?.closed.then(() => connection.#onStream(-1));
      // A program sends change notifications on its only stream.
      if (client.autoOpenedSubscription !== undefined || target.program !== undefined) connection.#streams += 1;
      if (target.program !== undefined) {
        const { command, args } = target.program;
        connection.#program = { command, args: [...args], version: client.getServerVersion()?.version ?? '' };
      }
      return connection;
    } catch (error) {
      connection.close();
      const words = isTimeout(error) && transport instanceof ProgramTransport ? transport.wrote : '';
      throw connection.#failure ?? (words === '' ? error : wroteOtherwise(words));
    }
  }

  get isUsable(): boolean {
    return !this.#isClosed && !this.#isRetired;
  }

  get isBusy(): boolean {
    return this.#calls > 0 || this.#running !== undefined;
  }

  /** How often the server has announced that its tools changed, or may have done so unheard. */
  get changes(): number {
    return this.#changes;
  }

  /** The last listing of this connection. */
  get latest(): Listing | undefined {
    return this.#listing;
  }

  /**
   * The latest listing, if the server itself guarantees that nothing has changed: it announces changes, the stream for
   * them is open, none has come, and the listing is recent.
   */
  get standing(): Listing | undefined {
    const listing = this.#listing;
    if (listing === undefined || !this.isUsable || !this.#isSubscribed()) return undefined;
    const isYoung = this.#deps.now() - listing.at < mcpBounds.listingMs;
    return isYoung && listing.changes === this.#changes ? listing : undefined;
  }

  /**
   * Lists the tools again; the listing begins after this call. Simultaneous callers share one. Throws the library's
   * errors, so that the caller can recognize a lost session.
   */
  list(): Promise<Listing> {
    if (this.#running === undefined) return this.#startListing();
    this.#next ??= this.#running.then(
      () => this.#startListing(),
      () => this.#startListing(),
    );
    return this.#next;
  }

  /**
   * Calls a tool, once. If the call is aborted or takes too long, the connection is retired, since its response may
   * still come. `onProgress` gets progress, and log lines, which name no call.
   */
  async call(
    tool: McpTool,
    input: Record<string, unknown>,
    signal: AbortSignal,
    observer: CallObserver = { onProgress: () => undefined },
  ): Promise<CallToolResult> {
    this.#calls += 1;
    const running = { ...observer, asked: 0, signal };
    this.#observers.add(running);
    try {
      return await this.#client.callTool(
        { name: tool.name, arguments: input },
        {
          signal,
          timeout: mcpBounds.callMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: mcpBounds.callTotalMs,
          onprogress: (progress) => observer.onProgress(progressLine(progress)),
          toolDefinition: { name: tool.name, inputSchema: { type: 'object', ...(tool.inputSchema as object) } },
        },
      );
    } catch (error) {
      if (signal.aborted || isTimeout(error)) this.#isRetired = true;
      throw this.#isClosed ? (this.#failure ?? error) : error;
    } finally {
      this.#calls -= 1;
      this.#observers.delete(running);
      if (this.#isRetired && !this.isBusy) this.close();
    }
  }

  /** Whether the server's capabilities include these. */
  offers(what: 'resources' | 'prompts'): boolean {
    return this.#client.getServerCapabilities()?.[what] !== undefined;
  }

  /** Sends a request that reads something, within the time of a listing. Throws the library's errors. */
  async ask<S extends z.ZodType>(
    method: string,
    params: Record<string, unknown>,
    shape: S,
    signal?: AbortSignal,
  ): Promise<z.output<S>> {
    this.#calls += 1;
    this.#failure = undefined;
    try {
      const request = { method: method as 'ping', params };
      const options = { timeout: mcpBounds.listMs, ...(signal === undefined ? {} : { signal }) };
      return (await this.#client.request(request, shape, options)) as z.output<S>;
    } catch (error) {
      throw this.#failure ?? error;
    } finally {
      this.#calls -= 1;
      if (this.#isRetired && !this.isBusy) this.close();
    }
  }

  close(): void {
    this.#end();
    within(limitOf(mcpBounds.cancelMs, undefined), () => this.#cancellations())
      .catch(() => undefined)
      .then(() => this.#client.close())
      .catch(() => undefined);
  }

  #startListing(): Promise<Listing> {
    this.#next = undefined;
    const running = this.#listPages().finally(() => {
      if (this.#running === running) this.#running = undefined;
      if (this.#isRetired && !this.isBusy) this.close();
    });
    this.#running = running;
    return running;
  }

  async #listPages(): Promise<Listing> {
    const changes = this.#changes;
    const listed: unknown[] = [];
    this.#failure = undefined;
    await within(limitOf(mcpBounds.listMs, undefined), async (signal) => {
      let cursor: string | undefined;
      const seen = new Set<string>();
      let size = 0;
      for (let pages = 0; ; pages += 1) {
        if (pages >= mcpBounds.pages) throw new BadDefinitions('its tool list has too many pages');
        const request = { method: 'tools/list' as const, params: cursor === undefined ? {} : { cursor } };
        const result = await this.#client.request(request, page, { signal, timeout: mcpBounds.listMs });
        size += JSON.stringify(result.tools).length;
        if (size > mcpBounds.listBytes) throw new BadDefinitions('its tool definitions are too large');
        listed.push(...result.tools.slice(0, mcpBounds.tools + 1));
        if (listed.length > mcpBounds.tools) break;
        // Some servers end their list with an empty cursor.
        if (typeof result.nextCursor !== 'string' || result.nextCursor === '') break;
        if (seen.has(result.nextCursor)) throw new BadDefinitions('its tool list repeats its pages');
        seen.add(result.nextCursor);
        cursor = result.nextCursor;
      }
    }).catch((error) => {
      const hasTools = this.#client.getServerCapabilities()?.tools !== undefined;
      if (!hasTools && serverWords(error) !== undefined) return;
      throw this.#failure ?? error;
    });
    const version = this.#client.getServerVersion()?.version.slice(0, mcpBounds.versionText);
    const listing = { ...readDefinitions(listed, this.#program), version, at: this.#deps.now(), changes };
    this.#listing = listing;
    return listing;
  }

  #isSubscribed(): boolean {
    return this.#streams > 0 && this.#client.getServerCapabilities()?.tools?.listChanged === true;
  }

  #onLog(params: unknown): void {
    if (this.#observers.size === 0) return;
    const line = logLine(params);
    if (line !== undefined) for (const { onProgress } of this.#observers) onProgress(line);
  }

  /** Asks the observer of the call; with several calls, of the oldest, as the request names no call. */
  async #elicit(params: unknown, signal: AbortSignal): Promise<ElicitResult> {
    const [running] = this.#observers;
    if (running?.onAsked === undefined || running.asked >= mcpBounds.elicitations) return { action: 'cancel' };
    running.asked += 1;
    const asked = readElicitation(params);
    if ('refused' in asked) {
      running.onProgress(`The server asked something and was declined: ${asked.refused}.`);
      return { action: 'decline' };
    }
    const answerSignal = AbortSignal.any([signal, running.signal, AbortSignal.timeout(mcpBounds.elicitMs)]);
    const answer = await running.onAsked(asked, answerSignal);
    if (answer.action !== 'accept') return answer;
    if (asked.url !== undefined) return { action: 'accept' };
    return { action: 'accept', content: contentOf(asked.questions, answer.answers) as ElicitResult['content'] };
  }

  #changed(): void {
    this.#changes += 1;
  }

  #onStream(change: 1 | -1): void {
    this.#streams += change;
    if (change === 1) return;
    // Changes announced while no stream was open are lost.
    this.#changed();
    if (this.#transport === 'sse') this.close();
  }

  #break(error: BrokenBound): void {
    this.#failure = error;
    this.close();
  }

  #end(): void {
    this.#isClosed = true;
    this.#changes += 1;
  }
}

function limitOf(milliseconds: number, signal: AbortSignal | undefined): TimeLimit {
  return { clock: systemClock, milliseconds, signal, tooLate: () => new DOMException('Too late', 'TimeoutError') };
}
