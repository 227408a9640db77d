/** Last seen state of each conversation in this browser, for the unread dot in the list. */
export class SeenStore {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly #key: string;
  readonly #seen: Map<string, string>;

  constructor(userId: string, storage: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#storage = storage;
    this.#key = `seen:v1:${userId}`;
    this.#seen = new Map(parseEntries(storage.getItem(this.#key)));
  }

  /** Conversations never opened here are not unread: on a new browser that would be all of them. */
  isUnread(chatId: string, updatedAt: string): boolean {
    const seen = this.#seen.get(chatId);
    return seen !== undefined && updatedAt > seen;
  }

  mark(chatId: string, updatedAt: string): void {
    if ((this.#seen.get(chatId) ?? '') >= updatedAt) return;
    this.#seen.delete(chatId);
    this.#seen.set(chatId, updatedAt);
    const newest = [...this.#seen].slice(-maximumEntries);
    try {
      this.#storage.setItem(this.#key, JSON.stringify(newest));
    } catch {
      // A missing dot is all that a full storage costs.
    }
  }
}

const maximumEntries = 300;

function parseEntries(raw: string | null): [string, string][] {
  try {
    const value: unknown = JSON.parse(raw ?? '[]');
    return Array.isArray(value) ? value.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is [string, string] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string';
}
