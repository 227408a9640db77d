import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { clock, type Timer } from '../../clock.ts';
import { changesOf } from '../changes/changes.ts';
import { DaemonError } from '../daemon-error.ts';
import { homeEnvironment } from '../exec/home-environment.ts';
import { type Exchange, sendJson } from '../http.ts';
import { spaceOf } from '../space/home-space.ts';
import type { Daemon } from '../state.ts';
import { checkSize, type Size, Terminal } from './terminal.ts';

const terminalsMax = 8;
const detachedMs = 10 * 60_000;
/** A large paste comes in several messages of at most this size. */
const messageMaxBytes = 256 * 1024;

type Open = { terminal: Terminal; closing: Timer | undefined; endActivity: () => void };

/** The endpoints of terminals; created at the first request. */
export function createTerminals(daemon: Daemon) {
  const open = new Map<string, Open>();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: messageMaxBytes, perMessageDeflate: false });
  sockets.on('error', () => undefined);
  const space = spaceOf(daemon);
  space.subscribe({
    notify: (text) => {
      for (const { terminal } of open.values()) terminal.notify(text);
    },
    end: () => endAll(),
  });

  function start(id: string, size: Size): Open {
    if (open.size >= terminalsMax) throw new DaemonError('busy', `${terminalsMax} terminals are open already`);
    const { home, commandEnvironment } = daemon.config;
    const environment = { ...commandEnvironment, ...homeEnvironment(daemon.config) };
    const endActivity = daemon.activity.begin('terminals');
    const onInput = (): void => {
      daemon.activity.touch();
      changesOf(daemon).typed();
    };
    const events = { onInput, onDetached: () => closeLater(id), onExit: () => forget(id) };
    try {
      space.watch();
      const terminal = new Terminal({ id, size, home, environment }, events);
      const made: Open = { terminal, closing: undefined, endActivity };
      open.set(id, made);
      return made;
    } catch (error) {
      endActivity();
      daemon.log('a terminal could not be started', error);
      throw new DaemonError('busy', 'No terminal can be started: too many processes are running, or memory is short');
    }
  }

  function closeLater(id: string): void {
    const entry = open.get(id);
    if (entry !== undefined) entry.closing = clock.after(detachedMs, () => entry.terminal.kill('SIGHUP'));
  }

  function forget(id: string): void {
    const entry = open.get(id);
    entry?.closing?.stop();
    entry?.endActivity();
    open.delete(id);
  }

  function endAll(): void {
    for (const { terminal } of open.values()) terminal.kill('SIGKILL');
  }

  return {
    /** Throws only before anything was sent; afterwards the terminal owns the socket. */
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, query: URLSearchParams): void {
      const [id, size] = [readId(query), readSize(query)];
      const known = open.get(id);
      const entry = known ?? start(id, size);
      // A terminal whose first handshake fails is closed like any without watchers.
      if (known === undefined) closeLater(id);
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        webSocket.on('error', () => undefined);
        entry.closing?.stop();
        entry.terminal.attach(webSocket, size, known === undefined);
      });
    },

    deleteTerminal(exchange: Exchange): void {
      const entry = open.get(readId(exchange.query));
      if (entry === undefined) throw new DaemonError('not_found', 'No such terminal');
      entry.terminal.kill('SIGHUP');
      sendJson(exchange, 200, { ok: true });
    },

    endAll,
  };
}

function readId(query: URLSearchParams): string {
  const id = query.get('id') ?? '';
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw new DaemonError('invalid_request', 'id is 1 to 64 of A-Z a-z 0-9 _ -');
  return id;
}

function readSize(query: URLSearchParams): Size {
  const size = checkSize(Number(query.get('columns') ?? '80'), Number(query.get('rows') ?? '24'));
  if (size === undefined) throw new DaemonError('invalid_request', 'columns and rows are numbers from 1 to 1000');
  return size;
}
