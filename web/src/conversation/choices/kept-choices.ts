/** Choices of single conversations, kept in this browser as one stored item among the drafts. */

/** Conversations whose choice is kept; the one chosen longest ago leaves first. */
const keptMax = 200;

/** The choice of a conversation, unless it is absent or damaged. */
export function choiceOf<Choice>(
  stored: string,
  key: string,
  isChoice: (value: unknown) => value is Choice,
): Choice | undefined {
  const value = parseEntries(stored).find(([id]) => id === key)?.[1];
  return isChoice(value) ? value : undefined;
}

/** `stored` with another choice of a conversation; undefined removes it. */
export function withChoice(stored: string, key: string, choice: unknown): string {
  const others = parseEntries(stored).filter(([id]) => id !== key);
  const entries = choice === undefined ? others : [...others, [key, choice]];
  return entries.length === 0 ? '' : JSON.stringify(entries.slice(-keptMax));
}

function parseEntries(stored: string): [string, unknown][] {
  if (stored === '') return [];
  try {
    const entries: unknown = JSON.parse(stored);
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is [string, unknown] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string';
}
