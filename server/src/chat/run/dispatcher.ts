import type { PerAccount } from '../../platform/concurrency/per-account.ts';
import type { Platform } from '../../platform.ts';
import { findAnswered } from '../ledger/approvals.ts';
import { findHandedOver } from '../ledger/handover.ts';
import { dueChats } from '../ledger/inputs.ts';

const dueBatch = 50;
const putOffMs = 10_000;
const putOffMax = 10_000;

/** Callbacks for a conversation that has work to start. */
export type Dispatch = {
  startNext(chatId: string): Promise<void>;
  continueAnswered(chatId: string): Promise<void>;
  failed(error: unknown): void;
};

/**
 * Finds conversations in which something is due and nothing runs. One that cannot continue does not block the others,
 * and is put off for a while.
 */
export class Dispatcher {
  readonly #deps: Pick<Platform, 'db' | 'clock'>;
  readonly #answers: PerAccount;
  readonly #dispatch: Dispatch;
  readonly #putOff = new Map<string, number>();

  constructor(deps: Pick<Platform, 'db' | 'clock'>, answers: PerAccount, dispatch: Dispatch) {
    this.#deps = deps;
    this.#answers = answers;
    this.#dispatch = dispatch;
  }

  async look(): Promise<void> {
    const { kysely } = this.#deps.db;
    // Handed-over responses come before inputs that are queued behind them.
    await this.#continueEach(await findHandedOver(kysely, dueBatch));
    const but = { chatIds: this.#stillPutOff(), ownerIds: this.#answers.full() };
    await this.#startEach(await dueChats(kysely, dueBatch, but));
    await this.#continueEach(await findAnswered(kysely, dueBatch));
  }

  async #continueEach(chatIds: readonly string[]): Promise<void> {
    for (const chatId of chatIds)
      await this.#dispatch.continueAnswered(chatId).catch((error) => this.#dispatch.failed(error));
  }

  async #startEach(chats: Iterable<{ chatId: string; ownerId: string }>): Promise<void> {
    for (const { chatId, ownerId } of chats) {
      if (this.#answers.isFull(ownerId)) continue;
      const starting = this.#answers.during(ownerId, () => this.#dispatch.startNext(chatId));
      await starting.catch((error) => {
        if (this.#putOff.size < putOffMax) this.#putOff.set(chatId, this.#deps.clock.now() + putOffMs);
        this.#dispatch.failed(error);
      });
    }
  }

  /** Conversations that could not continue a moment ago: enough of them would fill every batch. */
  #stillPutOff(): string[] {
    const now = this.#deps.clock.now();
    for (const [chatId, until] of this.#putOff) if (until <= now) this.#putOff.delete(chatId);
    return [...this.#putOff.keys()];
  }
}
