import type { Parameters } from '@homeport/contracts/chat/parameters';

/** How long a model thinks before it answers: the person's choice of each conversation, kept in this browser. */
export type Effort = NonNullable<Parameters['reasoningEffort']>;

export const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The levels that a model takes, as far as that is known; else all. */
export function offeredEfforts(reasoning: readonly string[] | false | undefined): readonly Effort[] {
  const known = reasoning ? efforts.filter((effort) => reasoning.includes(effort)) : [];
  return known.length === 0 ? efforts : known;
}

/** The item's name among the drafts. */
export const effortsName = 'efforts';

/** Conversations whose choice is kept; the one chosen longest ago leaves first. */
const keptMax = 200;

/** The choice of a conversation; undefined leaves it to the conversation, the assistant and the model. */
export function effortOf(stored: string, chatId: string): Effort | undefined {
  return parseEntries(stored).find(([id]) => id === chatId)?.[1];
}

/** `stored` with another choice of a conversation. */
export function withEffort(stored: string, chatId: string, effort: Effort | undefined): string {
  const others = parseEntries(stored).filter(([id]) => id !== chatId);
  const entries = effort === undefined ? others : [...others, [chatId, effort]];
  return entries.length === 0 ? '' : JSON.stringify(entries.slice(-keptMax));
}

function parseEntries(stored: string): [string, Effort][] {
  if (stored === '') return [];
  try {
    const entries: unknown = JSON.parse(stored);
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is [string, Effort] {
  return Array.isArray(value) && typeof value[0] === 'string' && efforts.includes(value[1]);
}
