import { createHash } from 'node:crypto';

/** Names that every provider accepts: letters, digits, "_" and "-", at most 64 characters. */
const maxLength = 64;
const serverMax = 24;
const hashLength = 8;

export type NamedTool = { serverId: string; serverName: string; toolName: string };

/**
 * The model's names for a turn's tools: `mcp__<server>__<tool>` (contract.md section 6), each unique, whatever servers
 * and tools are called. A name that is too long or taken ends in a hash of server and tool.
 */
export function nameTools<T extends NamedTool>(tools: readonly T[]): Map<string, T> {
  const named = new Map<string, T>();
  for (const tool of tools) {
    const plain = `mcp__${legible(tool.serverName, 'server').slice(0, serverMax)}__${legible(tool.toolName, 'tool')}`;
    const name = plain.length <= maxLength && !named.has(plain) ? plain : hashed(plain, tool);
    if (!named.has(name)) named.set(name, tool);
  }
  return named;
}

function legible(text: string, fallback: string): string {
  const plain = text.replace(/[^A-Za-z0-9_-]/g, '_');
  return /[A-Za-z0-9]/.test(plain) ? plain : fallback;
}

function hashed(plain: string, { serverId, toolName }: NamedTool): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([serverId, toolName]))
    .digest('hex')
    .slice(0, hashLength);
  return `${plain.slice(0, maxLength - hashLength - 1)}_${hash}`;
}
