/** Work of one owner in a few lanes: what finds none free waits in line, and leaves it when its signal aborts. */
export class TestLanes {
  readonly #width: number;
  readonly #lanes = new Map<string, { busy: number; line: (() => void)[] }>();

  constructor(width: number) {
    this.#width = width;
  }

  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(owner, signal);
    try {
      return await work();
    } finally {
      this.#leave(owner);
    }
  }

  async #enter(owner: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const lanes = this.#lanes.get(owner) ?? { busy: 0, line: [] };
    this.#lanes.set(owner, lanes);
    if (lanes.busy < this.#width) {
      lanes.busy += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abandon = () => {
      const place = lanes.line.indexOf(resolve);
      // Called up already: its turn ends by the same signal.
      if (place < 0) return;
      lanes.line.splice(place, 1);
      reject(signal.reason);
    };
    lanes.line.push(resolve);
    signal.addEventListener('abort', abandon, { once: true });
    await promise;
    signal.removeEventListener('abort', abandon);
  }

  #leave(owner: string): void {
    const lanes = this.#lanes.get(owner);
    const next = lanes?.line.shift();
    // The lane is handed over as it is, so that nobody can slip in between.
    if (next !== undefined) next();
    else if (lanes !== undefined && --lanes.busy === 0) this.#lanes.delete(owner);
  }
}
