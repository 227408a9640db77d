import type { Client } from 'pg';
import type { BlobStore } from '../artifacts/blob-store.ts';
import type { Member } from './archive-reader.ts';
import { damaged } from './backup-error.ts';

const keysAtOnce = 500;
const smallBytes = 1024 * 1024;
const smallAtOnce = 8;

/**
 * Puts the files of a backup into the store and their new keys into their rows. Small files are stored several at once,
 * because each waits for the disk or the bucket; at most 8 MiB of them are in memory.
 */
export class FileLoad {
  readonly #store: Pick<BlobStore, 'put'>;
  readonly #client: Client;
  readonly #storing = new Set<Promise<void>>();
  #failure: { cause: unknown } | undefined;
  #keys: { sha256: string; key: string }[] = [];
  #changed = 0;

  constructor(store: Pick<BlobStore, 'put'>, client: Client) {
    this.#store = store;
    this.#client = client;
  }

  /** Resolves when the member has been read. */
  async add(sha256: string, member: Member): Promise<void> {
    if (member.size > smallBytes) return this.#put(sha256, member.content);
    const bytes = await member.bytes(smallBytes);
    while (this.#storing.size >= smallAtOnce) await Promise.race(this.#storing);
    if (this.#failure !== undefined) throw this.#failure.cause;
    const storing = this.#put(sha256, one(bytes))
      .catch((cause: unknown) => {
        this.#failure ??= { cause };
      })
      .finally(() => this.#storing.delete(storing));
    this.#storing.add(storing);
  }

  /** Resolves when all files are safe, with how many of them have a row. */
  async finish(): Promise<number> {
    await this.settled();
    if (this.#failure !== undefined) throw this.#failure.cause;
    await this.#writeKeys();
    return this.#changed;
  }

  /** Resolves when nothing is written any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#storing);
  }

  async #put(sha256: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const stored = await this.#store.put(content);
    if (stored.sha256 !== sha256) throw damaged(`files/${sha256} has been changed`);
    this.#keys.push({ sha256, key: stored.key });
    if (this.#keys.length >= keysAtOnce) await this.#writeKeys();
  }

  /** The store gives each file a new key, which goes into its row. */
  async #writeKeys(): Promise<void> {
    const keys = JSON.stringify(this.#keys.splice(0));
    const { rowCount } = await this.#client.query(
      `update blobs b set key = x.key from json_to_recordset($1::json) as x (sha256 text, key text) where b.sha256 = x.sha256`,
      [keys],
    );
    this.#changed += rowCount ?? 0;
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  yield bytes;
}
