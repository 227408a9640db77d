import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';

/** Resources and prompts of trusted MCP servers: people attach resources and insert prompts. */

const texts = { name: z.string(), title: z.string().nullable(), description: z.string().nullable() };

const resource = z.object({
  ...texts,
  uri: z.string(),
  mediaType: z.string().nullable(),
  /** Bytes, as reported by the server. */
  size: z.number().int().nullable(),
});
export type McpResource = z.infer<typeof resource>;

const template = z.object({ ...texts, uriTemplate: z.string(), mediaType: z.string().nullable() });

const content = z.object({
  uri: z.string(),
  filename: z.string(),
  mediaType: z.string(),
  text: z.string().nullable(),
  /** Base64 of what is no text. */
  data: z.string().nullable(),
});
export type McpContent = z.infer<typeof content>;

const prompt = z.object({
  serverId: fields.id,
  serverName: z.string(),
  ...texts,
  arguments: z.array(z.object({ name: z.string(), description: z.string().nullable(), required: z.boolean() })),
});
export type McpPrompt = z.infer<typeof prompt>;

const using = [
  'not_found',
  'blocked_destination',
  'mcp_unreachable',
  'credentials_unreadable',
  'mcp_tools_changed',
] as const;

export const mcpContentEndpoints = {
  getMcpResources: endpoint({
    method: 'GET',
    path: '/api/mcp/resources',
    access: 'session',
    summary: 'The resources of an own trusted server, and its resource templates',
    query: z.object({ id: fields.id }),
    response: z.object({ resources: z.array(resource), templates: z.array(template) }),
    errors: using,
  }),
  postMcpResource: endpoint({
    method: 'POST',
    path: '/api/mcp/resources',
    access: 'session',
    summary: 'Reads a resource, to attach it as files: at most 8 MiB',
    body: z.object({ id: fields.id, uri: z.string().min(1).max(limits.mcpUriMax) }),
    response: z.object({ contents: z.array(content) }),
    errors: using,
  }),
  getMcpPrompts: endpoint({
    method: 'GET',
    path: '/api/mcp/prompts',
    access: 'session',
    summary: 'The prompts of all own trusted servers that respond; programs only while they run',
    response: z.object({ prompts: z.array(prompt) }),
  }),
  postMcpPrompt: endpoint({
    method: 'POST',
    path: '/api/mcp/prompts',
    access: 'session',
    summary: "A server's prompt as text, with these arguments filled in; nothing is sent to a model",
    body: z.object({
      id: fields.id,
      name: z.string().min(1).max(limits.mcpToolNameMax),
      arguments: z
        .record(z.string().max(limits.mcpToolNameMax), z.string().max(limits.mcpPromptArgumentMax))
        .meta({ maxProperties: limits.mcpPromptArguments })
        .optional(),
    }),
    /** `leftOut`: pictures and other parts that are no text. */
    response: z.object({ text: z.string(), leftOut: z.number().int() }),
    errors: using,
  }),
} as const;
