import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ModelRequest, ToolDefinition } from '../../protocol.ts';
import { isRefused, type ProviderDialect } from '../../provider-dialect.ts';
import { calledNames } from '../history.ts';
import type { RequestShape } from '../shape.ts';
import type { SchemaForm } from './schema-keywords.ts';
import type { RawSchema } from './schema-references.ts';
import { fitSchema } from './tool-schema.ts';

/** Why a tool is not sent: its definition cannot be used there, the server refused it, or there are too many. */
export type OmittedTool = { name: string; reason: 'schema' | 'refused' | 'limit' };

export type FittedTools = { tools: ToolDefinition[] | undefined; omitted: OmittedTool[] };

const acceptedName = /^[a-zA-Z0-9_-]{1,64}$/;

/** The tools of a request in the form that the server accepts, and those that it does not get. */
export function fitTools(kind: ProviderKind, dialect: ProviderDialect, request: ModelRequest): FittedTools {
  const { shape } = dialect;
  const form = formOf(kind, dialect);
  const omitted: OmittedTool[] = [];
  const fitted = new Map<string, ToolDefinition>();
  for (const tool of request.tools ?? []) {
    const inputSchema = cachedSchema(tool.inputSchema, form);
    if (!acceptedName.test(tool.name) || fitted.has(tool.name) || inputSchema === undefined) {
      omitted.push({ name: tool.name, reason: 'schema' });
      continue;
    }
    const own = { ...tool, inputSchema, description: cutDescription(shape, tool.description) };
    if (isRefusedTool(shape, own)) omitted.push({ name: tool.name, reason: 'refused' });
    else fitted.set(tool.name, own);
  }
  const tools = [...fitted.values()];
  const kept = withinLimit(tools, shape.maxTools, request);
  for (const { name } of tools) if (!kept.has(name)) omitted.push({ name, reason: 'limit' });
  return { tools: request.tools === undefined ? undefined : tools.filter(({ name }) => kept.has(name)), omitted };
}

function formOf(kind: ProviderKind, dialect: ProviderDialect): SchemaForm {
  if (kind === 'gemini') return isRefused(dialect, 'schemas') ? 'plain' : 'gemini';
  if (kind === 'anthropic') return 'anthropic';
  return dialect.shape.typedSchemas ? 'typed' : 'json';
}

/** Fitted schemas by the schema they came with: those of a turn are the same objects at each step. */
const cache = new WeakMap<object, Map<SchemaForm, RawSchema | undefined>>();

/** The fitted schema of a tool, made once. */
export function cachedSchema(schema: Record<string, unknown>, form: SchemaForm): RawSchema | undefined {
  const byForm = cache.get(schema) ?? new Map<SchemaForm, RawSchema | undefined>();
  cache.set(schema, byForm);
  if (!byForm.has(form)) byForm.set(form, fitSchema(schema, form));
  return byForm.get(form);
}

function cutDescription({ maxToolDescription: max }: RequestShape, description: string): string {
  return max === undefined || description.length <= max
    ? description
    : `${description.slice(0, max - 1).toWellFormed()}…`;
}

/** True while the refused definition is the same; a changed one is tried again. */
function isRefusedTool({ refusedTools }: RequestShape, tool: ToolDefinition): boolean {
  const refused = refusedTools.get(tool.name);
  return refused !== undefined && refused === JSON.stringify(tool.inputSchema);
}

function isOfServer(name: string): boolean {
  return name.startsWith('mcp__');
}

/** The tools used last in this conversation, then our own and those of MCP servers, up to the limit. */
function withinLimit(tools: readonly ToolDefinition[], max: number | undefined, request: ModelRequest): Set<string> {
  const names = tools.map(({ name }) => name);
  if (max === undefined || names.length <= max) return new Set(names);
  const offered = new Set(names);
  const used = calledNames(request)
    .toReversed()
    .filter((name) => offered.has(name));
  const [own, others] = [names.filter((name) => !isOfServer(name)), names.filter(isOfServer)];
  return new Set([...new Set([...used, ...own, ...others])].slice(0, max));
}
