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

  /** Does the work with a place taken from before it begins: two at the same moment may not both find the last one. */
  async during<T>(ownerId: string, work: (isFull: boolean) => Promise<T>): Promise<T> {
    const isFull = this.isFull(ownerId);
    const release = this.take(ownerId);
    return work(isFull).finally(release);
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
