import { ApiFailure } from '../api/api-failure.ts';

/**
 * Submission receipts (control-plane-api.md "Saved-message acknowledgement"). A receipt is written before its request
 * leaves and goes away only when the server has acknowledged the message, has refused the very first attempt, or the
 * person discards it. Nothing is ever sent again without being asked for, and never with another body or endpoint.
 */
export type Receipt = {
  version: 1;
  chatId: string;
  messageId: string;
  route: 'POST /api/chat/start' | 'POST /api/chat/turn-inputs';
  /** The request body as it went out; a retry sends these bytes. */
  body: string;
  /** Body of the `POST /api/chats` that makes the conversation first; null when it exists already. */
  createBody: string | null;
  /** The written text, to show and to copy. */
  text: string;
  /** The draft that the acknowledgement clears. */
  draftName: string;
  savedAt: string;
};

export type Outcome =
  | { kind: 'acknowledged'; receipt: Receipt; answer: unknown }
  /** The server refused the first attempt: nothing was saved, the draft is free again. */
  | { kind: 'refused'; failure: ApiFailure }
  /** It is unknown whether this or an earlier attempt was saved: the receipt stays. */
  | { kind: 'uncertain'; failure: ApiFailure }
  | { kind: 'conflict'; failure: ApiFailure }
  /** Another tab is sending, or holds an older receipt of this conversation. */
  | { kind: 'busy' }
  /** The browser would not store the receipt, so nothing was sent. */
  | { kind: 'not-stored' };

export type ReceiptState = { receipt: Receipt; sending: boolean; failure: ApiFailure | undefined; conflict: boolean };

export type ReceiptDeps = {
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;
  /** Absent on plain http. The server's own duplicate check still holds then. */
  locks: Pick<LockManager, 'request'> | undefined;
  send: (route: 'POST /api/chats' | Receipt['route'], body: string) => Promise<unknown>;
  clearDraft: (receipt: Receipt) => void;
  /** Deletes a conversation that was created for a message that was then refused. */
  dropChat: (chatId: string) => Promise<unknown>;
};

/** The receipts of one user. Another user's are never read, listed or sent. */
export class ReceiptStore {
  readonly #deps: ReceiptDeps;
  readonly #prefix: string;
  readonly #listeners = new Set<() => void>();
  /** Submissions that wait for the lock and the storage. */
  readonly #leaving = new Map<string, ReceiptState>();
  readonly #sending = new Set<string>();
  readonly #failures = new Map<string, ApiFailure>();
  readonly #states = new Map<string, { raw: string; state: ReceiptState }>();

  constructor(userId: string, deps: ReceiptDeps) {
    this.#deps = deps;
    this.#prefix = `receipt:v1:${userId}:`;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The pending submission of a conversation; the same object until something changes. */
  state(chatId: string): ReceiptState | undefined {
    const raw = this.#deps.storage.getItem(this.#prefix + chatId);
    if (raw === null) return this.#leaving.get(chatId);
    const known = this.#states.get(chatId);
    if (known?.raw === raw) return known.state;
    const receipt = parseReceipt(raw);
    if (!receipt) return undefined;
    const failure = this.#failures.get(chatId);
    const state = {
      receipt,
      sending: this.#sending.has(chatId),
      failure,
      conflict: failure?.code === 'input_conflict',
    };
    this.#states.set(chatId, { raw, state });
    return state;
  }

  /** Conversations with a pending submission. */
  pendingChatIds(): string[] {
    const { storage } = this.#deps;
    const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index));
    return keys.filter((key) => key?.startsWith(this.#prefix)).map((key) => String(key).slice(this.#prefix.length));
  }

  /** The oldest pending submission whose conversation may not exist yet: it belongs to the page of a new one. */
  pendingNewChat(): string | undefined {
    const receipts = this.pendingChatIds().map((chatId) => this.state(chatId)?.receipt);
    const created = receipts.filter((receipt) => receipt !== undefined && receipt.createBody !== null);
    return created.sort((a, b) => (a && b ? a.savedAt.localeCompare(b.savedAt) : 0))[0]?.chatId;
  }

  /** Stores the receipt, then sends it for the first time. It is pending immediately, before the lock is acquired. */
  async submit(receipt: Receipt): Promise<Outcome> {
    const { chatId } = receipt;
    if (this.#leaving.has(chatId)) return BUSY;
    this.#leaving.set(chatId, { receipt, sending: true, failure: undefined, conflict: false });
    this.#changed(chatId);
    try {
      return await this.#locked(chatId, () => this.#storeAndSend(receipt));
    } finally {
      this.#leaving.delete(chatId);
      this.#changed(chatId);
    }
  }

  /**
   * Sends the stored request again, byte for byte (control-plane-api.md "Saved-message acknowledgement" 1). Only ever
   * called by the person's own act.
   */
  retry(chatId: string): Promise<Outcome> {
    return this.#locked(chatId, async () => {
      const receipt = this.state(chatId)?.receipt;
      return receipt ? this.#attempt(receipt, false) : { kind: 'busy' };
    });
  }

  /** Discards an uncertain or conflicting submission. Called only on the person's request. */
  discard(chatId: string): void {
    if (!this.#sending.has(chatId)) this.#remove(chatId);
  }

  /** Another tab changed the stored receipts. */
  refresh = (event: { key: string | null }): void => {
    if (event.key === null || event.key.startsWith(this.#prefix)) this.#changed();
  };

  async #storeAndSend(receipt: Receipt): Promise<Outcome> {
    const key = this.#prefix + receipt.chatId;
    if (this.#deps.storage.getItem(key) !== null) return BUSY;
    try {
      this.#deps.storage.setItem(key, JSON.stringify(receipt));
    } catch {
      return { kind: 'not-stored' };
    }
    this.#leaving.delete(receipt.chatId);
    return this.#attempt(receipt, true);
  }

  async #attempt(receipt: Receipt, isFirst: boolean): Promise<Outcome> {
    const { chatId, createBody } = receipt;
    this.#sending.add(chatId);
    this.#failures.delete(chatId);
    this.#changed(chatId);
    let isCreated = false;
    try {
      isCreated = createBody !== null && (await this.#ensureChat(createBody));
      const answer = await this.#deliver(receipt);
      // The draft goes first: a crash between the two leaves a receipt, never a draft that could be sent as a new
      // message.
      this.#deps.clearDraft(receipt);
      this.#sending.delete(chatId);
      this.#remove(chatId);
      return { kind: 'acknowledged', receipt, answer };
    } catch (error) {
      const failure = toFailure(error);
      // Best effort: at worst an empty conversation stays in the list.
      if (isCreated && isFirst && isProof(failure)) await this.#deps.dropChat(chatId).catch(() => undefined);
      this.#sending.delete(chatId);
      return this.#failed(receipt, isFirst, failure);
    }
  }

  #failed(receipt: Receipt, isFirst: boolean, failure: ApiFailure): Outcome {
    if (failure.code === 'input_conflict') {
      this.#failures.set(receipt.chatId, failure);
      this.#changed(receipt.chatId);
      return { kind: 'conflict', failure };
    }
    if (isFirst && isProof(failure)) {
      this.#remove(receipt.chatId);
      return { kind: 'refused', failure };
    }
    this.#failures.set(receipt.chatId, failure);
    this.#changed(receipt.chatId);
    return { kind: 'uncertain', failure };
  }

  async #deliver(receipt: Receipt): Promise<unknown> {
    const answer = await this.#deps.send(receipt.route, receipt.body);
    if (acknowledgedId(answer) !== receipt.messageId) throw new ApiFailure('unreadable', '');
    return answer;
  }

  /** True if this request created the conversation. `id_taken` means that an earlier attempt made it; a stranger's conversation would answer 404 to what follows. */
  async #ensureChat(body: string): Promise<boolean> {
    try {
      await this.#deps.send('POST /api/chats', body);
      return true;
    } catch (error) {
      if (!(error instanceof ApiFailure && error.code === 'id_taken')) throw error;
      return false;
    }
  }

  async #locked(chatId: string, run: () => Promise<Outcome>): Promise<Outcome> {
    if (this.#sending.has(chatId)) return { kind: 'busy' };
    const { locks } = this.#deps;
    if (!locks) return run();
    return locks.request(`receipt:${chatId}`, { ifAvailable: true }, (lock) => (lock ? run() : BUSY));
  }

  #remove(chatId: string): void {
    this.#deps.storage.removeItem(this.#prefix + chatId);
    this.#failures.delete(chatId);
    this.#changed(chatId);
  }

  #changed(chatId?: string): void {
    if (chatId === undefined) this.#states.clear();
    else this.#states.delete(chatId);
    for (const listener of this.#listeners) listener();
  }
}

/**
 * True for a refusal that proves that nothing was saved. 429 is no proof: a browser may repeat a POST by itself when its
 * connection breaks, and only the repetition was refused.
 */
function isProof(failure: ApiFailure): boolean {
  return failure.isRefusal && failure.code !== 'rate_limited' && failure.code !== 'input_conflict';
}

const BUSY: Outcome = { kind: 'busy' };

function toFailure(error: unknown): ApiFailure {
  return error instanceof ApiFailure ? error : new ApiFailure('network', '', { cause: error });
}

function acknowledgedId(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null) return undefined;
  if ('messageId' in answer) return answer.messageId;
  const input = 'input' in answer ? answer.input : undefined;
  return typeof input === 'object' && input !== null && 'id' in input ? input.id : undefined;
}

function parseReceipt(raw: string): Receipt | undefined {
  try {
    const value: Partial<Receipt> | null = JSON.parse(raw);
    if (value?.version !== 1 || typeof value.body !== 'string' || typeof value.chatId !== 'string') return undefined;
    return value as Receipt;
  } catch {
    return undefined;
  }
}
