import type { ServerResponse } from 'node:http';
import type { ExecEvent } from '@homeport/contracts/workspace/daemon';
import { clock, type Timer } from '../../clock.ts';
import type { Exchange } from '../http.ts';

const pingMs = 15_000;
/** A reader that takes nothing for this long counts as gone. */
const stalledMs = 30_000;

/** One NDJSON response. It buffers at most one piece: writers check `isReady` and wait for `drained` first. */
export class Reader {
  readonly #response: ServerResponse;
  readonly #ping: Timer;
  #stalled: Timer | undefined;
  #isReady = true;
  #isOpen = true;
  #wake: (() => void)[] = [];

  constructor({ response }: Exchange, onGone: () => void) {
    this.#response = response;
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
    response.on('drain', () => this.#drain());
    response.on('close', () => {
      this.#close();
      onGone();
    });
    this.#ping = clock.every(pingMs, () => this.#isReady && this.send([{ type: 'ping' }]));
    if (response.destroyed) this.#close();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether everything sent so far has left this process, or the reader has disconnected. */
  get isReady(): boolean {
    return this.#isReady || !this.#isOpen;
  }

  send(events: ExecEvent[]): void {
    if (!this.#isOpen || events.length === 0) return;
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    if (this.#response.write(lines) || !this.#isReady) return;
    this.#isReady = false;
    this.#stalled = clock.after(stalledMs, () => this.#response.destroy());
  }

  /** Resolves once `isReady`. */
  async drained(): Promise<void> {
    if (this.isReady) return;
    await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#ping.stop();
    this.#response.end();
  }

  #drain(): void {
    this.#stalled?.stop();
    this.#isReady = true;
    for (const wake of this.#wake.splice(0)) wake();
  }

  #close(): void {
    this.#isOpen = false;
    this.#ping.stop();
    this.#drain();
  }
}
