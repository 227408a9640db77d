import { createHash } from 'node:crypto';
import type { ToolChoice } from '../../model/demands.ts';
import type { ToolDefinition } from '../../model/protocol.ts';
import { isRecord } from '../../model/stream/storable-text.ts';
import { assertAllowed } from '../message-rules.ts';
import type { ResponsesBody } from './schema.ts';

/** Tools of the Responses API: functions, tools whose input is text, and namespaces that hold both. */

type ListedTool = NonNullable<ResponsesBody['tools']>[number];
export type SingleTool = Exclude<ListedTool, { type: 'namespace' }>;
/** A tool as its client declared it. */
type DeclaredTool = { type: SingleTool['type']; name: string; namespace?: string };

export type ReadTools = {
  definitions: ToolDefinition[];
  /** By the name that the model calls. */
  declared: ReadonlyMap<string, DeclaredTool>;
  choice: ToolChoice | undefined;
};

const nameMax = 64;

/**
 * The name that a model calls: the namespace, two underscores and the tool's own name. One that is too long for
 * providers ends in a part of its hash.
 */
export function joinedName(namespace: string | null | undefined, name: string): string {
  if (namespace === null || namespace === undefined || namespace === '') return name;
  const joined = `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`;
  if (joined.length <= nameMax) return joined;
  const hash = createHash('sha256').update(joined).digest('hex').slice(0, 8);
  return `${joined.slice(0, nameMax - 9)}_${hash}`;
}

/** Tools that the provider of OpenAI's own models runs, and that a model can do without. */
const optional: ReadonlySet<unknown> = new Set(['web_search', 'web_search_preview', 'image_generation', 'tool_search']);

/**
 * The body without the tools that agents offer in every request and that only OpenAI runs. They stay if the request
 * forces a call, so that they are refused.
 */
export function withoutOptionalTools(body: Record<string, unknown>): Record<string, unknown> {
  const { tools, tool_choice: choice = 'auto' } = body;
  if (!Array.isArray(tools) || (choice !== 'auto' && choice !== null && choice !== 'none')) return body;
  const listed: unknown[] = tools;
  const kept = listed.filter((tool) => !(isRecord(tool) && optional.has(tool.type)));
  // A request that offers nothing else asks for the search itself.
  return kept.length === 0 ? body : { ...body, tools: kept };
}

type Called = { called: string; tool: SingleTool; namespace?: string };

export function readTools({ tools, tool_choice: choice }: ResponsesBody): ReadTools {
  const allowed = allowedNames(choice);
  const used = (tools ?? []).flatMap(calledTools).filter(({ called }) => allowed?.has(called) !== false);
  assertAllowed(
    allowed,
    used.map(({ called }) => called),
  );
  return {
    definitions: used.map(({ tool, called }) => toDefinition(tool, called)),
    declared: new Map(used.map(({ called, tool: { type, name }, ...place }) => [called, { type, name, ...place }])),
    choice: toolChoiceOf(choice),
  };
}

function calledTools(tool: ListedTool): Called[] {
  if (tool.type !== 'namespace') return [{ called: tool.name, tool }];
  const { name: namespace } = tool;
  return tool.tools.map((each) => ({ called: joinedName(namespace, each.name), tool: each, namespace }));
}

function toDefinition(tool: SingleTool, name: string): ToolDefinition {
  const description = tool.description ?? '';
  if (tool.type === 'function') {
    return { name, description, inputSchema: tool.parameters ?? { type: 'object', properties: {} } };
  }
  const grammar =
    tool.format?.type === 'grammar' ? `\n\nThe input follows this grammar:\n${tool.format.definition}` : '';
  const properties = { input: { type: 'string', description: 'The whole input of the tool as text' } };
  return {
    name,
    description: `${description}${grammar}`,
    inputSchema: { type: 'object', properties, required: ['input'], additionalProperties: false },
  };
}

function toolChoiceOf(choice: ResponsesBody['tool_choice']): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined;
  if (typeof choice === 'string') return choice;
  return choice.type === 'allowed_tools' ? choice.mode : { name: joinedName(choice.namespace, choice.name) };
}

function allowedNames(choice: ResponsesBody['tool_choice']): Set<string> | undefined {
  if (choice === null || typeof choice !== 'object' || choice.type !== 'allowed_tools') return undefined;
  return new Set(choice.tools.map(({ namespace, name }) => joinedName(namespace, name)));
}
