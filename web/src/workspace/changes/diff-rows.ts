import { diffTexts } from '@homeport/contracts/text/text-diff';

/** A line of one side, with its number there, from 1. */
export type DiffLine = { number: number; text: string };
/** A row of a comparison: one line on one side or on both, or a run of unchanged lines that is left out. */
export type DiffRow =
  | { kind: 'line'; before: DiffLine | undefined; after: DiffLine | undefined; isSame: boolean }
  | { kind: 'gap'; count: number };

/** Unchanged lines shown around a change. */
const around = 3;

/** The lines of two texts side by side. */
export function diffRows(before: string, after: string): DiffRow[] {
  const rows: DiffRow[] = [];
  const next = { before: 1, after: 1 };
  const numbered = (side: keyof typeof next, text: string): DiffLine => {
    const number = next[side];
    next[side] += 1;
    return { number, text };
  };
  let removed: DiffLine[] = [];
  const flush = (added: DiffLine[]): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1)
      rows.push({ kind: 'line', before: removed[at], after: added[at], isSame: false });
    removed = [];
  };
  for (const { kind, text } of diffTexts(before, after, 'lines')) {
    const lines = text.replace(/\n$/, '').split('\n');
    if (kind === 'removed') removed = lines.map((line) => numbered('before', line));
    else if (kind === 'added') flush(lines.map((line) => numbered('after', line)));
    else {
      flush([]);
      for (const line of lines)
        rows.push({ kind: 'line', before: numbered('before', line), after: numbered('after', line), isSame: true });
    }
  }
  flush([]);
  return folded(rows);
}

function folded(rows: readonly DiffRow[]): DiffRow[] {
  const near = new Set<number>();
  for (const [index, row] of rows.entries()) {
    if (row.kind === 'line' && row.isSame) continue;
    for (let at = index - around; at <= index + around; at += 1) near.add(at);
  }
  const kept: DiffRow[] = [];
  let count = 0;
  for (const [index, row] of rows.entries()) {
    if (!near.has(index)) {
      count += 1;
      continue;
    }
    if (count > 0) kept.push({ kind: 'gap', count });
    count = 0;
    kept.push(row);
  }
  return count > 0 ? [...kept, { kind: 'gap', count }] : kept;
}
