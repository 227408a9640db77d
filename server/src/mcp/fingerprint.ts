import { createHash } from 'node:crypto';
import type { McpTool } from '@homeport/contracts/mcp/mcp';
import canonicalize from 'canonicalize';
import { mcpBounds } from './bounds.ts';

/** Tool definitions sorted by name, and their fingerprint (contract.md section 7). */
export type Definitions = { tools: McpTool[]; fingerprint: string; version?: string; program?: ProgramIdentity };

/** Identity of a server that is a program, trusted along with its tools: the command line and the reported version. */
export type ProgramIdentity = { command: string; args: readonly string[]; version: string };

/** An invalid listing; the message names the fault and quotes nothing from the server. */
export class BadDefinitions extends Error {}

/**
 * The definitions in everything that a server listed, all pages together. An invalid definition, or the second one of a
 * name, leaves out this tool only. Throws BadDefinitions, also if no valid one is left.
 */
export function readDefinitions(listed: readonly unknown[], program?: ProgramIdentity): Definitions {
  if (listed.length > mcpBounds.tools) throw new BadDefinitions(`it lists more than ${mcpBounds.tools} tools`);
  const byNames = new Map<string, McpTool>();
  let fault: BadDefinitions | undefined;
  for (const raw of listed) {
    try {
      const tool = readDefinition(raw);
      if (!byNames.has(tool.name)) byNames.set(tool.name, tool);
    } catch (error) {
      if (!(error instanceof BadDefinitions)) throw error;
      fault ??= error;
    }
  }
  if (byNames.size === 0 && fault !== undefined) throw fault;
  const tools = [...byNames.values()].sort(byName);
  return { tools, fingerprint: fingerprintWith(program, tools), ...(program === undefined ? {} : { program }) };
}

/** The fingerprint of these tools, together with the program that lists them. */
export function fingerprintWith(program: ProgramIdentity | undefined, tools: readonly McpTool[]): string {
  return program === undefined ? fingerprintOf(tools) : fingerprintOfProgram(program, tools);
}

/**
 * SHA-256 of the canonical JSON (RFC 8785) of the definitions sorted by name, in lower-case hex: each with name, title,
 * description, inputSchema, outputSchema and annotations.
 */
export function fingerprintOf(tools: readonly McpTool[]): string {
  const text = canonicalText([...tools].map(pick).sort(byName));
  if (text.length > mcpBounds.definitionsBytes) throw new BadDefinitions('its tool definitions are too large');
  return createHash('sha256').update(text).digest('hex');
}

function fingerprintOfProgram(program: ProgramIdentity, tools: readonly McpTool[]): string {
  const text = canonicalText({ ...program, tools: fingerprintOf(tools) });
  return createHash('sha256').update(text).digest('hex');
}

/** One definition as canonical JSON: two definitions are equal if and only if these texts are. */
export function canonicalTool(tool: McpTool): string {
  return canonicalText(pick(tool));
}

function readDefinition(raw: unknown): McpTool {
  if (!isRecord(raw)) throw new BadDefinitions('a tool definition is not an object');
  const { name, title, description, inputSchema, outputSchema, annotations } = raw;
  if (typeof name !== 'string' || name === '' || name.length > mcpBounds.toolName || !name.isWellFormed()) {
    throw new BadDefinitions(`a tool name is missing or longer than ${mcpBounds.toolName} characters`);
  }
  // No policy record can hold this name, so the tool could be neither denied nor asked about.
  if (name === '__proto__') throw new BadDefinitions('a tool is named “__proto__”, which cannot be denied');
  if (!isRecord(inputSchema)) throw new BadDefinitions('a tool has no input schema');
  const tool: McpTool = { name, inputSchema };
  // Some servers write null for absent members.
  if (title !== undefined && title !== null) tool.title = textOf(title);
  if (description !== undefined && description !== null) tool.description = textOf(description);
  if (outputSchema !== undefined && outputSchema !== null) tool.outputSchema = recordOf(outputSchema);
  if (annotations !== undefined && annotations !== null) tool.annotations = recordOf(annotations);
  assertDepth(tool, 0);
  if (canonicalTool(tool).length > mcpBounds.definitionBytes)
    throw new BadDefinitions('a tool definition is too large');
  return tool;
}

function pick({ name, title, description, inputSchema, outputSchema, annotations }: McpTool): McpTool {
  return { name, title, description, inputSchema, outputSchema, annotations };
}

function canonicalText(value: unknown): string {
  try {
    return canonicalize(value) ?? '';
  } catch {
    throw new BadDefinitions('a tool definition cannot be put into canonical form');
  }
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new BadDefinitions('a title or description is not a string');
  return value;
}

function recordOf(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new BadDefinitions('an output schema or annotation is not an object');
  return value;
}

function assertDepth(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > mcpBounds.depth) throw new BadDefinitions('a tool definition is nested too deeply');
  for (const item of Object.values(value)) assertDepth(item, depth + 1);
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
