import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { daemonProtocol } from '@homeport/contracts/workspace/daemon';
import type { StartedWorkspace, WorkspaceRuntime } from '../../src/workspaces/runtime.ts';

/** Handles a request for a WebSocket in place of the daemon. */
export type UpgradeScript = (request: IncomingMessage, socket: Duplex) => void;

/** A runtime whose daemons are scripted by the test: one unix socket for all of them. Call `destroy` in `after`. */
export class ScriptedDaemons implements WorkspaceRuntime {
  readonly kind = 'local';
  /** By default it accepts the handshake and echoes everything. */
  onUpgrade: UpgradeScript = (request, socket) => {
    takeHandshake(request, socket);
    socket.pipe(socket);
  };
  /** Answers requests for files. */
  onFiles: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => response.end();
  /** The current connections of daemons. */
  readonly sockets = new Set<Duplex>();
  /** Requests for a terminal; the service checks health at any time. */
  readonly upgrades: IncomingMessage[] = [];
  readonly #generations = new Map<string, number>();
  readonly #server: Server;
  #folder = '';

  constructor() {
    this.#server = createServer((request, response) => {
      if (request.url?.startsWith('/v1/files')) return this.onFiles(request, response);
      const health = {
        ok: true,
        protocol: daemonProtocol,
        generation: [...this.#generations.values()].at(-1) ?? 1,
        bootId: 'boot',
        active: { processes: 0, terminals: 0, transfers: 0 },
        lastActivityAt: new Date().toISOString(),
        usage: {
          memoryBytes: 1,
          memoryLimitBytes: null,
          processes: 1,
          homeBytes: 1,
          homeBytesLimit: null,
          homeFiles: 1,
          homeFilesLimit: null,
          full: null,
        },
      };
      response.end(JSON.stringify(health));
    });
    this.#server.on('upgrade', (request, socket) => {
      this.upgrades.push(request);
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => this.sockets.delete(socket));
      this.onUpgrade(request, socket);
      // Read in any case, to notice a disconnect.
      socket.resume().on('end', () => socket.end());
    });
  }

  async listen(): Promise<this> {
    this.#folder = await mkdtemp(join(tmpdir(), 'hp-sd-'));
    await new Promise<void>((resolve) => this.#server.listen(this.#address.socketPath, resolve));
    return this;
  }

  get #address() {
    return { socketPath: join(this.#folder, 's') };
  }

  async start({ id, generation }: StartedWorkspace): Promise<void> {
    this.#generations.set(id, generation);
  }

  async stop(id: string): Promise<void> {
    this.#generations.delete(id);
  }

  async status(id: string) {
    const generation = this.#generations.get(id);
    return { phase: generation === undefined ? 'stopped' : 'running', generation, detail: undefined } as const;
  }

  async dial() {
    return this.#address;
  }

  async list() {
    return [...this.#generations].map(([id, generation]) => ({ id, generation }));
  }

  async close(): Promise<void> {}

  async destroy(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export function takeHandshake(request: IncomingMessage, socket: Duplex, extra = ''): void {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accepted = createHash('sha1').update(key).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accepted}\r\n${extra}\r\n`,
  );
}
