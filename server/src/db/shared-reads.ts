import type { Pool, PoolClient } from 'pg';

/** How many reads share a connection at most, since each waits for those before it. */
const sharedMax = 8;

/** A connection that the pool has been asked for, and how many reads need it. */
type Shared = { client: Promise<PoolClient>; reads: number };

/** True for a statement that only reads: it takes no lock, and waits for none of a row. */
export function isRead(sql: string): boolean {
  return /^\s*select\b/i.test(sql) && !/\bfor\s+(?:no\s+key\s+|key\s+)?(?:update|share)\b/i.test(sql);
}

/**
 * Reads outside transactions. Those that one turn of the event loop asks for, as the beginning of an answer does, go
 * over one connection: one write here, and one server process to wake. What others ask for never waits behind them.
 */
export class SharedReads {
  readonly #pool: Pool;
  /** Until the process turns to other work, other reads join: they are one person's, asked for together. */
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
    const shared: Shared = { client: this.#pool.connect(), reads: 0 };
    this.#gathering = shared;
    // After everything that is due now, and before the next event: the pool may take longer for its connection.
    process.nextTick(() => {
      if (this.#gathering === shared) this.#gathering = undefined;
    });
    return shared;
  }
}

/** Whatever is sent before the process turns to other work becomes one write. */
export function sendTogether({ connection: { stream } }: PoolClient): void {
  stream.cork();
  queueMicrotask(() => stream.uncork());
}
