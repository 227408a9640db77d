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
   * Holds a place for as long as the work takes, even if none is left, of which the work is told. Taken before the work
   * begins, so that two at the same moment don't both find the last one.
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
