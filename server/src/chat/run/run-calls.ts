import type { Usage } from '@homeport/contracts/chat/frames';
import type { Queryable } from '../../db/pool.ts';
import { assertBudget } from '../../usage/budget-rule.ts';
import { readBudgetReset } from '../../usage/budget-state.ts';
import { countCalls, type LedgerRow, type ModelCall } from '../../usage/ledger.ts';
import type { ResponseRow } from '../ledger/response-start.ts';
import { addUsage } from '../model/usage.ts';

/** The model calls that this replica made for one response. */
export class RunCalls {
  readonly #response: Pick<ResponseRow, 'id' | 'owner_id' | 'generation'>;
  readonly #pending: LedgerRow[] = [];
  readonly #last = new Map<ModelCall['kind'], number>();
  #usage: Usage | undefined;

  constructor(response: Pick<ResponseRow, 'id' | 'owner_id' | 'generation'>) {
    this.#response = response;
  }

  /** Token counts reported by providers; undefined if they reported none. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Calls that are not stored yet; `stored` drops them. */
  get pending(): readonly LedgerRow[] {
    return [...this.#pending];
  }

  /** Steps of the answer that this replica continues. */
  startAfter(steps: number): void {
    this.#last.set('answer', steps);
  }

  /** `steps`: how many the log has, by which another replica would count the last one. */
  add(call: ModelCall, steps: number): void {
    const next = (this.#last.get(call.kind) ?? 0) + 1;
    const step = call.kind === 'answer' ? Math.max(steps, next) : next;
    this.#last.set(call.kind, step);
    const { id: responseId, owner_id: ownerId, generation } = this.#response;
    this.#pending.push({ ...call, ownerId, responseId, generation, step });
    if (!call.estimated) this.#usage = addUsage(this.#usage, call.usage);
  }

  /**
   * Stores them by themselves, then throws `budget_exhausted` when nothing is left: before a delegate asks once more.
   */
  async beforeAsking(db: Queryable): Promise<void> {
    const rows = this.pending;
    await countCalls(db, rows);
    this.stored(rows);
    assertBudget(await readBudgetReset(db, this.#response.owner_id));
  }

  stored(rows: readonly LedgerRow[]): void {
    for (const row of rows) {
      const at = this.#pending.indexOf(row);
      if (at >= 0) this.#pending.splice(at, 1);
    }
  }
}
