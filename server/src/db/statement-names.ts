import { createHash } from 'node:crypto';

/** A statement is prepared once it has been run this often: what is run seldom is not worth a plan kept at each connection. */
const oftenEnough = 10;
/** Each costs every connection's process at the server the memory of its plan. */
const namesMax = 100;
const seenMax = 2_000;
const textMax = 16_000;

/**
 * Names for the statements that are run again and again, so that the server parses and plans them once for each connection instead
 * of each time. Which these are is found by counting.
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

  /** After the failure of a named statement: whatever was prepared before is not used any more. */
  heed(error: unknown): void {
    if (!isStalePlan(error)) return;
    // What stands between forgets what it has prepared: a pooler that does not know of names.
    if (isUnknownName(error)) this.#isUsable = false;
    this.#generation += 1;
    this.#names.clear();
  }
}

/** True when a prepared statement does not fit its tables any more, or is not known at this connection: run again, it works. */
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
