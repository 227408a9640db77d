import type { McpTool } from '@homeport/contracts/mcp';

/** The fields of a tool that the fingerprint covers (contract.md section 7), in the order they are read. */
export const toolFields = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;
export type ToolField = (typeof toolFields)[number];

export type DiffRun = { kind: 'same' | 'removed' | 'added'; text: string };
export type FieldDiff = { field: ToolField; kind: 'added' | 'removed' | 'modified'; runs: DiffRun[] };

/** A field as text: JSON with sorted keys, for the fingerprint knows no order of keys; undefined where it is absent. */
export function fieldText(tool: McpTool, field: ToolField): string | undefined {
  const value = tool[field];
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(sorted(value), null, 2);
}

/** What differs between two definitions of a tool, field by field. */
export function diffTool(before: McpTool, after: McpTool): FieldDiff[] {
  return toolFields.flatMap((field): FieldDiff[] => {
    const old = fieldText(before, field);
    const now = fieldText(after, field);
    if (old === now) return [];
    const kind = old === undefined ? 'added' : now === undefined ? 'removed' : 'modified';
    const isJson = field.endsWith('Schema') || field === 'annotations';
    return [{ field, kind, runs: diffTexts(old ?? '', now ?? '', isJson ? lines : words) }];
  });
}

/** Cells of the comparison table beyond which the two texts are shown one after the other. */
const mostCells = 2_000_000;

function diffTexts(before: string, after: string, split: (text: string) => string[]): DiffRun[] {
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

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}
