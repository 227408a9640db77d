import type { McpTool } from '@homeport/contracts/mcp/mcp';

export type ToolParameter = { name: string; type: string; isRequired: boolean; description: string };

/** Hint of a server about its tool (MCP annotations): read-only or destructive. */
export type ToolHint = 'readOnly' | 'destructive';

/** The parameters that an input schema names; empty if there are none. Deeper parts are in the schema itself. */
export function toolParameters({ inputSchema }: McpTool): ToolParameter[] {
  const schema = asRecord(inputSchema);
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(asRecord(schema.properties)).map(([name, value]) => {
    const property = asRecord(value);
    const { description } = property;
    return {
      name,
      type: typeOf(property),
      isRequired: required.includes(name),
      description: typeof description === 'string' ? description : '',
    };
  });
}

export function toolHint({ annotations }: McpTool): ToolHint | undefined {
  const { readOnlyHint, destructiveHint } = asRecord(annotations);
  if (readOnlyHint === true) return 'readOnly';
  return destructiveHint === true ? 'destructive' : undefined;
}

function typeOf({ type, enum: values, items }: Record<string, unknown>): string {
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (type === 'array') return `${typeOf(asRecord(items)) || 'any'}[]`;
  if (Array.isArray(type)) return type.map(String).join(' | ');
  return typeof type === 'string' ? type : '';
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
