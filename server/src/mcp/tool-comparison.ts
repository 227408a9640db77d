import type { McpTool } from '@homeport/contracts/mcp/mcp';
import { escaped, sets, texts } from '@homeport/contracts/mcp/text-changes';
import { canonicalTool } from './fingerprint.ts';

/** Comparison of tool definitions that ignores the order of sets, and texts that a person accepted as changing. */

/** Canonical JSON with sorted sets, and without the texts at these pointers (`/<tool>/description`). */
export function comparableTool(tool: McpTool, volatile: ReadonlySet<string> = new Set()): string {
  return canonicalTool(comparable(tool, `/${escaped(tool.name)}`, '', volatile) as McpTool);
}

function comparable(value: unknown, path: string, key: string, volatile: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return texts.has(key) && volatile.has(path) ? '' : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (sets.has(key) && value.every((item) => typeof item === 'string')) return [...value].sort();
    return value.map((item, index) => comparable(item, `${path}/${index}`, '', volatile));
  }
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([name, each]) => [name, comparable(each, `${path}/${escaped(name)}`, name, volatile)]),
  );
}
