/** Unsent texts of one user, kept per conversation across reloads, sign-out and a session that ran out. */
export class DraftStore {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  readonly #prefix: string;
  readonly #listeners = new Set<(name: string) => void>();

  constructor(userId: string, storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>) {
    this.#storage = storage;
    this.#prefix = `draft:v1:${userId}:`;
  }

  read(name: string): string {
    return this.#storage.getItem(this.#prefix + name) ?? '';
  }

  /** False when the browser would not store it; the text is then only on the screen. */
  write(name: string, text: string): boolean {
    try {
      if (text === '') this.#storage.removeItem(this.#prefix + name);
      else this.#storage.setItem(this.#prefix + name, text);
      return true;
    } catch {
      return false;
    }
  }

  /** Changes a draft from outside its field, and notifies the field. */
  replace(name: string, text: string): void {
    this.write(name, text);
    for (const listener of this.#listeners) listener(name);
  }

  /** `listener` gets the name of each draft that was replaced here or changed in another tab. */
  subscribe(listener: (name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Another tab changed stored items. */
  refresh = (event: { key: string | null }): void => {
    if (!event.key?.startsWith(this.#prefix)) return;
    for (const listener of this.#listeners) listener(event.key.slice(this.#prefix.length));
  };
}
