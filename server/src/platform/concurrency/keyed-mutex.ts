/** Work that runs one at a time per key in this process; replicas synchronize on a database row. */
export class KeyedMutex<Key> {
  readonly #last = new Map<Key, Promise<unknown>>();

  async take<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const settled = turn.catch(() => undefined);
    this.#last.set(key, settled);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }

  /** Resolves when everything requested so far has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
