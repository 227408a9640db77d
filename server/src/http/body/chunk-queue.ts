import type { Readable } from 'node:stream';

/** How many bytes may wait for their consumer before the sender has to wait. */
const maxWaiting = 512 * 1024;

/**
 * A stream's chunks as they arrive, for one consumer. A stream's own iterator joins waiting chunks, which copies every
 * byte once more and leaves twice the garbage.
 */
export class ChunkQueue implements AsyncIterable<Buffer> {
  readonly #stream: Readable;
  #chunks: Buffer[] = [];
  #waiting = 0;
  #isEnded = false;
  #failure: { cause: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: Readable) {
    this.#stream = stream;
    stream.on('data', this.#take);
    stream.on('end', () => {
      this.#isEnded = true;
      this.#wake?.();
    });
    stream.on('error', (cause: unknown) => this.fail(cause));
    stream.on('close', () => {
      if (!this.#isEnded) this.fail(new Error('the stream was closed before its end'));
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (;;) {
        this.#assertSound();
        const chunks = this.#chunks;
        this.#chunks = [];
        this.#waiting = 0;
        if (chunks.length === 0 && this.#isEnded) return;
        if (this.#stream.isPaused()) this.#stream.resume();
        for (const chunk of chunks) {
          yield chunk;
          this.#assertSound();
        }
        if (chunks.length === 0) await this.#more();
      }
    } finally {
      this.#letGo();
    }
  }

  /** The consumer gets this instead of more chunks; the first cause counts. */
  fail(cause: unknown): void {
    this.#failure ??= { cause };
    this.#letGo();
    this.#wake?.();
  }

  readonly #take = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    if (this.#waiting > maxWaiting) this.#stream.pause();
    this.#wake?.();
  };

  /** Stops collecting chunks; the next reader continues with the stream. */
  #letGo(): void {
    this.#stream.off('data', this.#take);
    this.#chunks = [];
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  #assertSound(): void {
    if (this.#failure !== undefined) throw this.#failure.cause;
  }
}
