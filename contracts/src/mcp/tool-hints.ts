import type { McpTool } from './mcp.ts';

/** Hints of a server about its tool (MCP "ToolAnnotations"): claims, of which only the restricting ones count. */

type Hints = { readOnly: boolean; destructive: boolean; closedWorld: boolean; isStated: boolean };

const hintNames = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

/**
 * True for a tool that starts as "Ask first": one that may delete or overwrite, or that changes something outside its
 * server, such as sending an invitation. Absent hints have the defaults of MCP: not read-only, open world.
 */
export function startsAsking(tool: Pick<McpTool, 'annotations'>): boolean {
  const { readOnly, destructive, closedWorld } = hintsOf(tool);
  return destructive || !(readOnly || closedWorld);
}

/** True for a tool whose server states at least one hint. */
export function statesHints(tool: Pick<McpTool, 'annotations'>): boolean {
  return hintsOf(tool).isStated;
}

/** Tools among `tools` that start as "Ask first", except those that were trusted while they already had that effect. */
export function newlyAsking(tools: readonly McpTool[], trusted: readonly McpTool[]): McpTool[] {
  const decided = new Set(trusted.filter(startsAsking).map(({ name }) => name));
  return tools.filter((tool) => startsAsking(tool) && !decided.has(tool.name));
}

function hintsOf({ annotations }: Pick<McpTool, 'annotations'>): Hints {
  const given: Record<string, unknown> =
    typeof annotations === 'object' && annotations !== null ? { ...annotations } : {};
  return {
    readOnly: given.readOnlyHint === true,
    destructive: given.destructiveHint === true,
    closedWorld: given.openWorldHint === false,
    isStated: hintNames.some((name) => typeof given[name] === 'boolean'),
  };
}
