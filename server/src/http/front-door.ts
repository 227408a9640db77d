import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { systemClock } from '../clock.ts';

/**
 * The server's connections, from its first day to its last: while it drains every answer ends its connection, and nobody is cut
 * off who still waits for one.
 */
export class FrontDoor {
  readonly #answering = new Set<ServerResponse>();
  #server: Server | undefined;
  #isDraining = false;
  #quietUntil = 0;

  /** True from the moment in which the process was told to stop. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** `onFull` is called when a connection was refused because there are too many, once a minute at most. */
  watch(server: Server, onFull: () => void): void {
    this.#server = server;
    server.on('drop', () => {
      if (systemClock.elapsed() < this.#quietUntil) return;
      this.#quietUntil = systemClock.elapsed() + 60_000;
      onFull();
    });
    server.prependListener('request', (_incoming: IncomingMessage, outgoing: ServerResponse) => {
      this.#answering.add(outgoing);
      if (this.#isDraining) outgoing.shouldKeepAlive = false;
      outgoing.once('close', () => {
        this.#answering.delete(outgoing);
        // An answer whose head had gone out before could not announce the end of its connection.
        if (this.#isDraining && !server.listening) setImmediate(() => server.closeIdleConnections());
      });
    });
  }

  /**
   * From now on each answer ends its connection. Idle ones stay until `close`: a proxy may be about to use one, and finds out with
   * an answer instead of without.
   */
  drain(): void {
    this.#isDraining = true;
    for (const outgoing of this.#answering) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
  }

  /** Takes no new connections and closes idle ones; resolves when the last one has ended. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#server?.listening !== true) return resolve();
      this.#server.close(() => resolve());
    });
  }
}
