/** A sign in the message field that opens a list: `/` for prompts and commands, `@` for assistants. */
export type Trigger = {
  sign: '/' | '@';
  /** Offset of the trigger character. */
  start: number;
  /** Text between the trigger character and the cursor. */
  query: string;
};

const queryMax = 64;

/**
 * The sign that is being typed at the cursor: at the beginning or behind a blank, with letters, digits, `-`, `_` or `.`
 * behind it. A path, a date, a fraction or an address is none.
 */
export function findTrigger(text: string, cursor: number): Trigger | undefined {
  const found = /(?:^|\s)([/@])([\p{L}\p{M}\p{N}_.-]*)$/u.exec(text.slice(Math.max(0, cursor - queryMax - 2), cursor));
  const [, sign, query] = found ?? [];
  if ((sign !== '/' && sign !== '@') || query === undefined || query.length > queryMax) return undefined;
  // The cursor is inside a word, so no list is open.
  if (/^[^\s]/.test(text.slice(cursor))) return undefined;
  return { sign, start: cursor - query.length - 1, query };
}

/** True if a word of `name` or `title` begins with the query; letters inside a word don't match. */
export function matchesQuery(query: string, ...texts: readonly string[]): boolean {
  if (query === '') return true;
  const sought = query.toLocaleLowerCase();
  return texts.some((text) => {
    const words = text.toLocaleLowerCase();
    return words.startsWith(sought) || words.split(/[^\p{L}\p{M}\p{N}]+/u).some((word) => word.startsWith(sought));
  });
}

/** Parses `/compact` with the focus of the summary; undefined for every other message. */
export function parseCompact(text: string): { focus: string } | undefined {
  const found = /^\/compact(?:\s+(.*))?$/s.exec(text.trim());
  return found ? { focus: (found[1] ?? '').trim() } : undefined;
}
