import type { TurnBudget } from '@homeport/contracts/chat/turn-budget';
import { limits } from '@homeport/contracts/limits';

/** Budget use of a turn. Checked between steps: a running tool is never cut for it. */
export class Spending {
  readonly #budget: TurnBudget;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #turn: Spending | undefined;
  #steps = 0;
  #tokens = 0;
  #waiting = 0;
  #waitingSince = 0;
  #waitedMs = 0;
  #isTold = false;

  /** `now` in milliseconds, for intervals; `turn` is that of a delegate, and pays as well. */
  constructor(budget: TurnBudget, now: () => number, turn?: Spending) {
    this.#budget = budget;
    this.#now = now;
    this.#startedAt = now();
    this.#turn = turn;
  }

  /** A delegate has steps of its own; time and tokens are the turn's. */
  ofDelegate(): Spending {
    const steps = Math.min(this.#budget.steps, limits.delegateStepsMax);
    return new Spending({ ...this.#budget, steps }, this.#now, this);
  }

  addStep(): void {
    this.#steps++;
  }

  addTokens(usage: { inputTokens: number; outputTokens: number } | undefined): void {
    this.#tokens += (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
    this.#turn?.addTokens(usage);
  }

  /** People may take any time. */
  async whileWaiting<T>(wait: Promise<T>): Promise<T> {
    if (this.#waiting++ === 0) this.#waitingSince = this.#now();
    try {
      return await wait;
    } finally {
      if (--this.#waiting === 0) this.#waitedMs += this.#now() - this.#waitingSince;
    }
  }

  /** Describes the exhausted limit; undefined while every limit has something left. */
  get isOut(): string | undefined {
    const { steps } = this.#budget;
    if (this.#steps >= steps) return `${steps} ${steps === 1 ? 'step' : 'steps'}`;
    return this.isSpent ?? this.#turn?.isSpent;
  }

  /** Time and tokens alone. */
  get isSpent(): string | undefined {
    const { minutes, tokens } = this.#budget;
    if (this.#minutes >= minutes) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
    return tokens !== null && this.#tokens >= tokens ? `${tokens} tokens` : undefined;
  }

  /** For the model, before a question: once when little is left, and again before the last step. */
  get note(): string | undefined {
    const { steps, minutes, tokens } = this.#budget;
    const left = steps - this.#steps;
    if (left === 1 && this.#steps > 0) {
      return note('This is the last step. Do not call any more tools. Report the completed and the remaining work.');
    }
    if (this.#isTold || this.#steps === 0) return undefined;
    const isNear =
      left <= Math.max(2, steps / 10) ||
      this.#minutes >= minutes * 0.9 ||
      (tokens !== null && this.#tokens >= tokens * 0.9);
    if (!isNear) return undefined;
    this.#isTold = true;
    const rest = [
      `${left} of ${steps} steps`,
      `${Math.max(0, Math.floor(minutes - this.#minutes))} of ${minutes} minutes`,
      ...(tokens === null ? [] : [`${Math.max(0, tokens - this.#tokens)} of ${tokens} tokens`]),
    ];
    return note(
      `This turn is close to its limit. Left: ${rest.join(', ')}. Bring the work to a good state and report the remaining work.`,
    );
  }

  get #minutes(): number {
    const waiting = this.#waiting > 0 ? this.#now() - this.#waitingSince : 0;
    return (this.#now() - this.#startedAt - this.#waitedMs - waiting) / 60_000;
  }
}

function note(text: string): string {
  return `[System note, not from the person: ${text}]`;
}
