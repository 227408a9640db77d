import type { TurnChanges } from '@homeport/contracts/workspace/daemon';

/** How many files an answer changed, how many of them are undone, and the lines they gained and lost, if known. */
export type ChangeSummary = { files: number; undone: number; added?: number; removed?: number };

/** Undefined if nothing was changed. Folders that were made or removed alone count as files. */
export function summaryOf({ files }: Pick<TurnChanges, 'files'>): ChangeSummary | undefined {
  if (files.length === 0) return undefined;
  const counted = files.flatMap(({ lines }) => lines ?? []);
  const sum = (name: 'added' | 'removed'): number => counted.reduce((all, lines) => all + lines[name], 0);
  return {
    files: files.length,
    undone: files.filter(({ state }) => state === 'undone').length,
    ...(counted.length > 0 ? { added: sum('added'), removed: sum('removed') } : {}),
  };
}

const key = 'changed-files:v1';
const mostKept = 200;

type Kept = [messageId: string, summary: ChangeSummary][];

/** The summary that was last seen of an answer, for the time when its workspace is stopped. */
export function readSummary(messageId: string): ChangeSummary | undefined {
  return readKept().find(([id]) => id === messageId)?.[1];
}

/** The browser keeps the newest ones; undefined deletes that of the answer. */
export function keepSummary(messageId: string, summary: ChangeSummary | undefined): void {
  const others = readKept().filter(([id]) => id !== messageId);
  const kept: Kept = summary === undefined ? others : [...others, [messageId, summary]];
  try {
    localStorage.setItem(key, JSON.stringify(kept.slice(-mostKept)));
  } catch {
    // The line shows less while the workspace is stopped.
  }
}

function readKept(): Kept {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(entry: unknown): entry is Kept[number] {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') return false;
  const summary: unknown = entry[1];
  if (typeof summary !== 'object' || summary === null) return false;
  const { files, undone, added = 0, removed = 0 } = summary as Record<string, unknown>;
  return [files, undone, added, removed].every((count) => Number.isSafeInteger(count));
}
