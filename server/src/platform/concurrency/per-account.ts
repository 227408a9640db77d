/** Places of which each account has the same number, in this process. */
export class PerAccount {
  readonly #most: number;
  readonly #taken = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  isFull(ownerId: string): boolean {
    return (this.#taken.get(ownerId) ?? 0) >= this.#most;
  }

  /** The accounts that have no place left. */
  full(): string[] {
    return [...this.#taken].filter(([, count]) => count >= this.#most).map(([ownerId]) => ownerId);
  }

  /**
   * Holds a place while the work runs, even if none is left; `isFull` reports that to the work. The place is taken
   * before the work begins, so that two concurrent callers can't both take the last one.
   */
  async during<T>(ownerId: string, work: (isFull: boolean) => Promise<T>): Promise<T> {
    const isFull = this.isFull(ownerId);
    const release = this.take(ownerId);
    try {
      return await work(isFull);
    } finally {
      release();
    }
  }

  /** Takes a place, even if none is left; returns what gives it back. */
  take(ownerId: string): () => void {
    this.#taken.set(ownerId, (this.#taken.get(ownerId) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#taken.get(ownerId) ?? 0) - 1;
      if (left > 0) this.#taken.set(ownerId, left);
      else this.#taken.delete(ownerId);
    };
  }
}
