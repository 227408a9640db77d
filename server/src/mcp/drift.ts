import type { McpDrift, McpTool } from '@homeport/contracts/mcp/mcp';
import { comparableTool } from './tool-comparison.ts';

/**
 * Compares definitions with those `before`; both are sorted by name. A different order of members or of sets is not a
 * change, nor are the accepted texts.
 */
export function driftBetween(
  before: readonly McpTool[],
  after: readonly McpTool[],
  volatile: readonly string[] = [],
): McpDrift {
  const accepted = new Set(volatile);
  const known = new Map(before.map((tool) => [tool.name, tool]));
  const listed = new Set(after.map((tool) => tool.name));
  const added = after.filter((tool) => !known.has(tool.name));
  const removed = before.filter((tool) => !listed.has(tool.name));
  const modified = after.flatMap((tool) => {
    const earlier = known.get(tool.name);
    if (earlier === undefined || comparableTool(earlier, accepted) === comparableTool(tool, accepted)) return [];
    return [{ name: tool.name, before: earlier, after: tool }];
  });
  return { changed: added.length + removed.length + modified.length > 0, added, removed, modified };
}
