export type DiffRun = { kind: 'same' | 'removed' | 'added'; text: string };

/** Cells of the comparison table beyond which the two texts are shown one after the other. */
const mostCells = 2_000_000;

/** Differences between two texts, line by line or word by word. */
export function diffTexts(before: string, after: string, by: 'lines' | 'words'): DiffRun[] {
  const split = by === 'lines' ? lines : words;
  const old = split(before);
  const now = split(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middleOld = old.slice(start, old.length - end);
  const middleNow = now.slice(start, now.length - end);
  const middle =
    middleOld.length * middleNow.length > mostCells
      ? [...asRuns('removed', middleOld), ...asRuns('added', middleNow)]
      : longestCommon(middleOld, middleNow);
  return joined([...asRuns('same', old.slice(0, start)), ...middle, ...asRuns('same', old.slice(old.length - end))]);
}

export type LineCounts = { added: number; removed: number };

/** The lines that the second text has more, and less, than the first. */
export function countChangedLines(before: string, after: string): LineCounts {
  const counts = { same: 0, added: 0, removed: 0 };
  for (const { kind, text } of diffTexts(before, after, 'lines')) counts[kind] += lines(text).length;
  return { added: counts.added, removed: counts.removed };
}

function longestCommon(old: readonly string[], now: readonly string[]): DiffRun[] {
  const width = now.length + 1;
  const length = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => length[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      length[row * width + column] =
        old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const runs: DiffRun[] = [];
  let row = 0;
  let column = 0;
  while (row < old.length || column < now.length) {
    const removes = row < old.length && (column === now.length || at(row + 1, column) >= at(row, column + 1));
    if (row < old.length && column < now.length && old[row] === now[column]) {
      runs.push({ kind: 'same', text: old[row] ?? '' });
      row += 1;
      column += 1;
    } else if (removes) {
      runs.push({ kind: 'removed', text: old[row] ?? '' });
      row += 1;
    } else {
      runs.push({ kind: 'added', text: now[column] ?? '' });
      column += 1;
    }
  }
  return runs;
}

function joined(runs: readonly DiffRun[]): DiffRun[] {
  const result: DiffRun[] = [];
  for (const run of runs) {
    const last = result.at(-1);
    if (last?.kind === run.kind) last.text += run.text;
    else if (run.text !== '') result.push({ ...run });
  }
  return result;
}

function asRuns(kind: DiffRun['kind'], texts: readonly string[]): DiffRun[] {
  return texts.length === 0 ? [] : [{ kind, text: texts.join('') }];
}

function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

function words(text: string): string[] {
  return text.match(/\s+|[^\s]+/g) ?? [];
}
