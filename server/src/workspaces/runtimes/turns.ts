/** One change of a workspace after the other. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` when everything asked for before with this id has ended. */
  async take(id: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.#last.get(id) ?? Promise.resolve()).then(work);
    const settled = turn.catch(() => undefined);
    this.#last.set(id, settled);
    await turn.finally(() => {
      if (this.#last.get(id) === settled) this.#last.delete(id);
    });
  }

  async settled(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
