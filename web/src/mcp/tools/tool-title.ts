/** Splits a tool's name in the chat: `mcp__<server>__<tool>` (contract.md section 6). */
export function toolTitle(name: string): { server: string | undefined; tool: string } {
  const match = /^mcp__(.+?)__(.+)$/s.exec(name);
  return match ? { server: match[1], tool: match[2] ?? name } : { server: undefined, tool: name };
}
