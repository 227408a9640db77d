import { createHash } from 'node:crypto';

/** A statement is prepared after this many runs: a rare one is not worth keeping a plan on each connection. */
const oftenEnough = 10;
/** Each one costs memory for a plan in every connection's server process. */
const namesMax = 100;
const seenMax = 2_000;
const textMax = 16_000;

/**
 * Names for frequent statements, so that the server parses and plans them once per connection instead of each time.
 * Counting finds out which these are.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #seen = new Map<string, number>();
  #generation = 0;
  #isUsable = true;

  /** Undefined: run it without a name. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || !this.#isUsable) return known;
    if (text.length > textMax || this.#names.size >= namesMax) return undefined;
    const times = (this.#seen.get(text) ?? 0) + 1;
    if (times < oftenEnough) {
      if (this.#seen.size >= seenMax) this.#seen.clear();
      this.#seen.set(text, times);
      return undefined;
    }
    this.#seen.delete(text);
    const name = `often-${this.#generation}-${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
    this.#names.set(text, name);
    return name;
  }

  /** After a named statement failed: nothing that was prepared before is used again. */
  heed(error: unknown): void {
    if (!isStalePlan(error)) return;
    // Something in between, a pooler, forgets prepared statements.
    if (isUnknownName(error)) this.#isUsable = false;
    this.#generation += 1;
    this.#names.clear();
  }
}

/** True if a prepared statement no longer fits its tables, or is unknown on this connection: running it again works. */
export function isStalePlan(error: unknown): boolean {
  if (isUnknownName(error)) return true;
  return codeOf(error) === '0A000' && error instanceof Error && error.message.includes('cached plan');
}

function isUnknownName(error: unknown): boolean {
  const code = codeOf(error);
  return code === '26000' || code === '42P05';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
