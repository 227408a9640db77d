import type { ChangedFile } from '@homeport/contracts/workspace/daemon';

/** Undo of several answers, newest first, since each one's files are the next one's initial state. */

export type Step = (messageId: string, direction: 'undo' | 'redo', force: boolean) => Promise<Stepped>;
/** `conflicts`: files changed since, in which case nothing was written. `skipped`: files left unchanged. */
type Stepped = { conflicts: string[]; skipped: string[] };

/** The files that undoing these answers would change, each named once. */
export function filesToUndo(changes: readonly { files: readonly ChangedFile[] }[]): string[] {
  const files = changes.flatMap((each) => each.files).filter(({ state }) => state !== 'undone');
  return [...new Set(files.map(({ path }) => path))].sort();
}

export class AnswersUndo {
  readonly #step: Step;
  readonly #left: string[];
  readonly #undone: string[] = [];
  readonly #skipped: string[] = [];

  /** The ids of the answers, newest first. */
  constructor(newestFirst: readonly string[], step: Step) {
    this.#left = [...newestFirst];
    this.#step = step;
  }

  get skipped(): readonly string[] {
    return this.#skipped;
  }

  /**
   * Undoes the remaining answers. Resolves with the conflicting files; `force` overwrites them, for the next answer
   * only.
   */
  async undo(force = false): Promise<string[]> {
    let isForced = force;
    for (let next = this.#left[0]; next !== undefined; next = this.#left[0]) {
      const { conflicts, skipped } = await this.#step(next, 'undo', isForced);
      if (conflicts.length > 0) return conflicts;
      isForced = false;
      this.#skipped.push(...skipped);
      this.#undone.push(next);
      this.#left.shift();
    }
    return [];
  }

  /** Brings back what has been undone so far, oldest first. */
  async giveUp(): Promise<void> {
    for (let last = this.#undone.at(-1); last !== undefined; last = this.#undone.at(-1)) {
      const { conflicts } = await this.#step(last, 'redo', false);
      if (conflicts.length > 0) throw new Error(conflicts.join(', '));
      this.#undone.pop();
      this.#left.unshift(last);
    }
  }
}
