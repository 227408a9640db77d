import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { systemClock } from '../platform/clock.ts';

/**
 * The server's connections, from start to end: while it drains, every response ends its connection, and no waiting
 * client is cut off.
 */
export class ConnectionDrain {
  readonly #answering = new Set<ServerResponse>();
  #server: Server | undefined;
  #isDraining = false;
  #quietUntil = 0;

  /** True as soon as the process got the signal to stop. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** `onFull` is called when a connection was refused because there are too many, at most once a minute. */
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
        // A response whose head was already sent could not announce the end of its connection.
        if (this.#isDraining && !server.listening) setImmediate(() => server.closeIdleConnections());
      });
    });
  }

  /**
   * From now on each response ends its connection. Idle ones stay until `close`: a proxy could be about to use one and
   * should get a response.
   */
  drain(): void {
    this.#isDraining = true;
    for (const outgoing of this.#answering) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
  }

  /** Refuses new connections and closes idle ones; resolves when the last one has ended. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#server?.listening !== true) return resolve();
      this.#server.close(() => resolve());
    });
  }
}
