import { Slots } from '../slots.ts';

/** Work of one owner in a few lanes: what finds none free waits in line, and leaves it when its signal aborts. */
export class TestLanes {
  readonly #width: number;
  readonly #lanes = new Map<string, Slots>();

  constructor(width: number) {
    this.#width = width;
  }

  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const lanes = this.#lanes.get(owner) ?? new Slots(this.#width);
    this.#lanes.set(owner, lanes);
    try {
      return await lanes.run(work, signal);
    } finally {
      if (lanes.isIdle) this.#lanes.delete(owner);
    }
  }
}
