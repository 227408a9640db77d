import { limits } from '../limits.ts';
import type { McpDrift, McpTool } from './mcp.ts';

/** Texts of tool definitions that a server changes with each listing. */

/** Members of a JSON schema whose arrays are sets. */
export const sets: ReadonlySet<string> = new Set(['required', 'enum', 'type']);
/** Members that are text for the reader and restrict no input. */
export const texts: ReadonlySet<string> = new Set(['description', 'title', 'default']);

/** The changed texts that a person can accept: none if the drift has other changes. */
export function acceptableTexts({ added, removed, modified }: McpDrift, accepted: readonly string[]): string[] {
  if (added.length + removed.length > 0) return [];
  const [before, after] = [modified.map((change) => change.before), modified.map((change) => change.after)];
  return (textChanges(before, after) ?? []).filter((path) => !accepted.includes(path)).sort();
}

/**
 * JSON pointers (RFC 6901, with the tool's name first) of the texts that differ between two lists sorted by name;
 * undefined if anything else differs, or more texts than can be accepted.
 */
export function textChanges(before: readonly McpTool[], after: readonly McpTool[]): string[] | undefined {
  if (before.length !== after.length) return undefined;
  const found: string[] = [];
  for (const [index, tool] of before.entries()) {
    const other = after[index];
    if (other === undefined || !findChanges(tool, other, `/${escaped(tool.name)}`, '', found)) return undefined;
  }
  return found.length <= limits.mcpVolatileTexts ? found : undefined;
}

/** Collects the differing texts; false if anything else differs. */
function findChanges(before: unknown, after: unknown, path: string, key: string, found: string[]): boolean {
  if (before === after) return true;
  if (typeof before === 'string' && typeof after === 'string') {
    if (!texts.has(key) || path.length > limits.mcpVolatileTextMax) return false;
    found.push(path);
    return true;
  }
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return false;
  if (Array.isArray(before) !== Array.isArray(after)) return false;
  if (Array.isArray(before) && sets.has(key)) return isSameSet(before, after as unknown[]);
  const members = Object.entries(before).filter(([, value]) => value !== undefined);
  const others = Object.entries(after).filter(([, value]) => value !== undefined);
  if (members.length !== others.length) return false;
  return members.every(([name, value]) => {
    if (!Object.hasOwn(after, name)) return false;
    const isItem = Array.isArray(before);
    const other = (after as Record<string, unknown>)[name];
    return findChanges(value, other, `${path}/${escaped(name)}`, isItem ? '' : name, found);
  });
}

function isSameSet(one: readonly unknown[], other: readonly unknown[]): boolean {
  const text = (items: readonly unknown[]): string => JSON.stringify(items.map((item) => JSON.stringify(item)).sort());
  return text(one) === text(other);
}

/** One part of a JSON pointer. */
export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
