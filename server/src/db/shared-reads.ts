import type { Pool, PoolClient } from 'pg';

/** How many reads share a connection at most, since each waits for those before it. */
const sharedMax = 8;

/** A connection that the pool has been asked for, and how many reads need it. */
type Shared = { client: Promise<PoolClient>; reads: number };

/** True for a statement that only reads: it holds no lock that the statements behind it could wait for. */
export function isRead(sql: string): boolean {
  return /^\s*select\b/i.test(sql);
}

/**
 * Reads outside transactions. Those that are asked for at once, as at the beginning of a turn, go over one connection:
 * one write here, and one server process to wake.
 */
export class SharedReads {
  readonly #pool: Pool;
  /** Until its connection is there, other reads join. */
  #gathering: Shared | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async run<T>(read: (client: PoolClient) => Promise<T>): Promise<T> {
    const shared = this.#gathering ?? this.#begin();
    shared.reads += 1;
    if (shared.reads === sharedMax) this.#gathering = undefined;
    const client = await shared.client;
    try {
      sendTogether(client);
      return await read(client);
    } finally {
      shared.reads -= 1;
      if (shared.reads === 0) client.release();
    }
  }

  #begin(): Shared {
    const client = this.#pool.connect().finally(() => {
      if (this.#gathering === shared) this.#gathering = undefined;
    });
    const shared: Shared = { client, reads: 0 };
    this.#gathering = shared;
    return shared;
  }
}

/** Whatever is sent before the process turns to other work becomes one write. */
export function sendTogether({ connection: { stream } }: PoolClient): void {
  stream.cork();
  queueMicrotask(() => stream.uncork());
}
