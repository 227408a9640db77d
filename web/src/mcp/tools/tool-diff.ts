import type { McpTool } from '@homeport/contracts/mcp/mcp';
import { type DiffRun, diffTexts } from '@homeport/contracts/text/text-diff';

/** The fields of a tool that the fingerprint covers (contract.md section 7), in reading order. */
export const toolFields = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;
export type ToolField = (typeof toolFields)[number];

export type FieldDiff = { field: ToolField; kind: 'added' | 'removed' | 'modified'; runs: DiffRun[] };

/** A field as text: JSON with sorted keys, since the fingerprint ignores their order; undefined if absent. */
export function fieldText(tool: McpTool, field: ToolField): string | undefined {
  const value = tool[field];
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(sorted(value), null, 2);
}

/** The differences between two definitions of a tool, field by field. */
export function diffTool(before: McpTool, after: McpTool): FieldDiff[] {
  return toolFields.flatMap((field): FieldDiff[] => {
    const old = fieldText(before, field);
    const now = fieldText(after, field);
    if (old === now) return [];
    const kind = old === undefined ? 'added' : now === undefined ? 'removed' : 'modified';
    const isJson = field.endsWith('Schema') || field === 'annotations';
    return [{ field, kind, runs: diffTexts(old ?? '', now ?? '', isJson ? 'lines' : 'words') }];
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}
