import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import type { SessionWatch } from '../../accounts/session-watch.ts';
import { findLiveSessions } from '../../accounts/sessions.ts';
import { tunnelRequest } from '../../egress/outbound-proxy/tunnel-request.ts';
import type { Platform } from '../../platform.ts';
import { joinStreams } from '../join-streams.ts';
import type { Workspaces } from '../workspaces.ts';
import { labelOfHost, type PreviewDomain, portOfLabel, previewDomain, previewOrigin } from './preview-address.ts';
import { headersForApp, headersForBrowser, isForeign, ownHeaders, type Place } from './preview-headers.ts';
import { PreviewLines } from './preview-lines.ts';
import { faultPage, type PreviewFault, storagePage, storagePath } from './preview-pages.ts';
import { passResponse, refuseUpgrade, switchProtocols } from './preview-responses.ts';
import { takeTicket, ticketPath, type Visit, VisitCookies } from './preview-tickets.ts';

type PreviewDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'log'> & {
  sessions: SessionWatch;
  workspaces: Workspaces;
};
type Opened = { visit: Visit; place: Place };

/** From the request, or the last byte of its body, to the head of the response. */
const firstByteMs = 120_000;
/** Without a byte in either direction. */
const idleMs = 2 * 3_600_000;
const pathMax = 8_192;
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A reason for one of our pages instead of the app's. */
class Refusal extends Error {
  readonly fault: PreviewFault;

  constructor(fault: PreviewFault, cause?: unknown) {
    super(fault, { cause });
    this.fault = fault;
  }
}

/**
 * Apps in workspaces, each on an origin of its own (docs/decisions/0050-previews.md). They are strangers: nothing of
 * the person's goes there, and nothing that they send reaches beyond their origin.
 */
export class Previews {
  readonly #deps: PreviewDeps;
  readonly #domain: PreviewDomain | undefined;
  readonly #cookies: VisitCookies;
  readonly #lines: PreviewLines;
  readonly #open = new Set<AbortController>();

  constructor(deps: PreviewDeps) {
    this.#deps = deps;
    this.#domain = deps.workspaces.mode === 'disabled' ? undefined : previewDomain(deps.config);
    this.#cookies = new VisitCookies(deps.config);
    this.#lines = new PreviewLines(deps.workspaces, deps.clock);
  }

  /** Whether a request is for a preview, and never for Homeport itself. */
  owns({ headers }: IncomingMessage): boolean {
    return labelOfHost(this.#domain, headers.host) !== undefined;
  }

  /** WebSockets are forwarded; an upgrade to another protocol is handled as an ordinary request. */
  accepts({ method, headers }: IncomingMessage): boolean {
    return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
  }

  /** Everything for previews, and `others` for the rest. */
  listener(others: RequestListener): RequestListener {
    return (incoming, outgoing) => {
      if (this.owns(incoming)) void this.#answer(incoming, outgoing);
      else others(incoming, outgoing);
    };
  }

  /** Listener of the server's `upgrade`, for requests that `owns` is true for. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    void this.#upgrade(request, socket, head);
  }

  /** Source for `frame-src` of our page that was requested with this Host header: all previews. */
  frames(host: string): string | undefined {
    return previewOrigin(this.#domain, '*', host);
  }

  close(): void {
    for (const end of this.#open) end.abort(new Error('the service is restarting'));
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const end = this.#begin();
    incoming.on('error', () => undefined);
    outgoing.on('error', () => undefined);
    outgoing.once('close', () => end.abort(new Error('the client left')));
    let opened: Opened | undefined;
    let unwatch = (): void => undefined;
    try {
      if (answersStorage(incoming, outgoing) || (await this.#redeem(incoming, outgoing))) return;
      opened = await this.#enter(incoming, false);
      unwatch = this.#watch(opened.visit, end);
      await this.#pass(incoming, outgoing, opened, end);
    } catch (error) {
      this.#fail(incoming, outgoing, opened, this.#faultOf(error, end.signal));
    } finally {
      unwatch();
      this.#open.delete(end);
    }
  }

  async #pass(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { visit, place }: Opened,
    end: AbortController,
  ): Promise<void> {
    const { signal } = end;
    const leave = await this.#lines.seat(visit.userId, 'request', signal);
    try {
      await this.#withLine(visit, place.port, signal, async ({ connection, touch, over }) => {
        const slow = this.#deps.clock.after(firstByteMs, () => end.abort(new Refusal('slow')));
        const onBytes = (): void => slow.restart();
        incoming.on('data', onBytes);
        const hasBody = 'content-length' in incoming.headers || 'transfer-encoding' in incoming.headers;
        try {
          const { head, upgraded } = await tunnelRequest(connection, {
            method: incoming.method ?? 'GET',
            path: incoming.url ?? '/',
            headers: { ...headersForApp(incoming.headers, place), ...framingOf(incoming) },
            body: hasBody ? incoming : undefined,
            signal: over,
          });
          slow.stop();
          if (upgraded !== undefined) {
            upgraded.destroy();
            throw new Refusal('broken');
          }
          const quiet = this.#deps.clock.after(idleMs, () => end.abort(new Refusal('slow')));
          const onTraffic = (): void => {
            touch();
            quiet.restart();
          };
          await passResponse(head, outgoing, headersForBrowser(head.headers, place), onTraffic).finally(quiet.stop);
        } finally {
          slow.stop();
          incoming.off('data', onBytes);
        }
      });
    } finally {
      leave();
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const end = this.#begin();
    const gone = (): void => end.abort(new Error('the client left'));
    socket.on('error', () => socket.destroy());
    socket.once('close', gone);
    socket.pause();
    if (head.length > 0) socket.unshift(head);
    let unwatch = (): void => undefined;
    let leave = (): void => undefined;
    try {
      const { visit, place } = await this.#enter(request, true);
      unwatch = this.#watch(visit, end);
      leave = await this.#lines.seat(visit.userId, 'socket', end.signal);
      await this.#withLine(visit, place.port, end.signal, async ({ connection, touch, over }) => {
        const slow = this.#deps.clock.after(firstByteMs, () => end.abort(new Refusal('slow')));
        const headers = { ...headersForApp(request.headers, place), connection: 'Upgrade', upgrade: 'websocket' };
        const wish = { method: 'GET', path: request.url ?? '/', headers, body: undefined, signal: over };
        const { head: answer, upgraded } = await tunnelRequest(connection, wish).finally(slow.stop);
        if (upgraded === undefined || answer.headers.upgrade?.toLowerCase() !== 'websocket') {
          (upgraded ?? answer).destroy();
          throw new Refusal('broken');
        }
        upgraded.pause();
        socket.off('close', gone);
        const quiet = this.#deps.clock.after(idleMs, () => end.abort(new Refusal('slow')));
        const onTraffic = (): void => {
          touch();
          quiet.restart();
        };
        switchProtocols(socket, headersForBrowser(answer.headers, place));
        await joinStreams(socket, upgraded, onTraffic, over).finally(quiet.stop);
      });
    } catch (error) {
      const { status } = faultPage(this.#faultOf(error, end.signal), undefined, undefined);
      refuseUpgrade(socket, status);
    } finally {
      leave();
      unwatch();
      this.#open.delete(end);
    }
  }

  /** Runs `work` on a connection to the app, which ends with it. */
  async #withLine(
    { userId }: Visit,
    port: number,
    signal: AbortSignal,
    work: (way: { connection: Duplex; touch: () => void; over: AbortSignal }) => Promise<void>,
  ): Promise<void> {
    const line = await this.#lines.take(userId);
    if (line === undefined) throw new Refusal('asleep');
    let connection: Duplex | undefined;
    try {
      const over = AbortSignal.any([signal, line.signal]);
      connection = await line.daemon.upgrade(`/v1/tunnel?port=${port}`, over).catch((error: unknown) => {
        if (signal.aborted) throw signal.reason;
        const code = error instanceof ApiError ? error.code : undefined;
        if (code === 'not_found') throw new Refusal('silent', error);
        if (code === 'rate_limited') throw new Refusal('busy', error);
        line.doubt();
        throw new Refusal('asleep', error);
      });
      line.touch();
      await work({ connection, touch: line.touch, over });
    } finally {
      connection?.destroy();
      line.release();
    }
  }

  /** Authenticates a request and finds its preview; throws for requests that must not reach an app. */
  async #enter(request: IncomingMessage, isUpgrade: boolean): Promise<Opened> {
    const { headers, method = '', url = '' } = request;
    const label = labelOfHost(this.#domain, headers.host) ?? '';
    const visit = label === '' ? undefined : this.#cookies.read(headers.cookie, label, this.#deps.clock.now());
    const origin = previewOrigin(this.#domain, label, headers.host ?? '');
    if (visit === undefined || origin === undefined || !(await this.#isSignedIn(visit))) throw new Refusal('closed');
    if (isForeign(headers, origin, isUpgrade)) throw new Refusal('foreign');
    // A worker would stay in the browser and answer for whatever listens on this port next.
    const isWorker = headers['service-worker'] !== undefined || headers['sec-fetch-dest'] === 'serviceworker';
    const isUnusual = !url.startsWith('/') || url.length > pathMax || url.startsWith('/.homeport/');
    if (isWorker || isUnusual || !methods.has(method)) throw new Refusal('refused');
    return { visit, place: { origin, port: portOfLabel(label), from: visit.from } };
  }

  async #isSignedIn({ sessionId }: Visit): Promise<boolean> {
    const live = await findLiveSessions(this.#deps.db, [sessionId], this.#deps.clock.now());
    return live.has(sessionId);
  }

  /** A ticket becomes a cookie of this preview; false for any other request. */
  async #redeem({ headers, method, url = '' }: IncomingMessage, outgoing: ServerResponse): Promise<boolean> {
    if (!url.startsWith(ticketPath) || method !== 'GET') return false;
    const { db, clock } = this.#deps;
    const label = labelOfHost(this.#domain, headers.host) ?? '';
    const origin = previewOrigin(this.#domain, label, headers.host ?? '');
    const secret = url.slice(ticketPath.length);
    const ticket = label === '' ? undefined : await takeTicket(db.kysely, { secret, label }, clock.now());
    if (ticket === undefined || origin === undefined || !(await this.#isSignedIn(ticket))) throw new Refusal('closed');
    const { path, ...visit } = ticket;
    const cookie = this.#cookies.set(visit, clock.now());
    const headersOut = { ...ownHeaders, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
    outgoing.writeHead(303, { ...headersOut, location: origin + path, 'set-cookie': cookie, 'content-length': 0 });
    outgoing.end();
    return true;
  }

  #begin(): AbortController {
    const end = new AbortController();
    this.#open.add(end);
    return end;
  }

  #watch({ sessionId }: Visit, end: AbortController): () => void {
    return this.#deps.sessions.watch(sessionId, () => end.abort(new Refusal('closed')), { endsUnchecked: true });
  }

  #faultOf(error: unknown, signal: AbortSignal): PreviewFault {
    for (const reason of [error, signal.reason]) if (reason instanceof Refusal) return reason.fault;
    if (error instanceof ApiError && error.code === 'rate_limited') return 'busy';
    if (error instanceof ApiError && error.code.startsWith('workspace_')) return 'asleep';
    this.#deps.log.debug({ cause: error }, 'a preview failed');
    return 'broken';
  }

  #fail(incoming: IncomingMessage, outgoing: ServerResponse, opened: Opened | undefined, fault: PreviewFault): void {
    if (outgoing.destroyed) return;
    if (outgoing.headersSent) return void outgoing.destroy();
    const { status, headers, body } = faultPage(fault, incoming.headers['accept-language'], opened?.place.from);
    // A request body that the app did not read is not read here either.
    outgoing.writeHead(status, { ...headers, ...(incoming.complete ? {} : { connection: 'close' }) });
    outgoing.end(incoming.method === 'HEAD' ? undefined : body);
  }
}

/** Node would send the body of some methods without saying where it ends. */
function framingOf({ headers }: IncomingMessage): { 'transfer-encoding'?: string } {
  return 'transfer-encoding' in headers ? { 'transfer-encoding': 'chunked' } : {};
}

function answersStorage({ method, url }: IncomingMessage, outgoing: ServerResponse): boolean {
  if (method !== 'GET' || url !== storagePath) return false;
  const { headers, body } = storagePage();
  outgoing.writeHead(200, headers).end(body);
  return true;
}
