import type { McpServer, McpTool } from '@homeport/contracts/mcp/mcp';
import { countHidden } from '../visible-text.ts';
import { toolTitle } from './tool-title.ts';

/** The server and tool behind a turn's tool name; undefined if it is ambiguous. */
export function findTool(servers: readonly McpServer[], name: string): { server: McpServer; tool: string } | undefined {
  const found = definitionOf(servers, name);
  return found && { server: found.server, tool: found.tool.name };
}

/** Characters of a title that are shown. */
const titleMax = 80;

/**
 * The title that a trusted server gives to the tool behind a turn's tool name. A title that is long or has hidden
 * characters counts as none, so that it can't pretend to be more than a title.
 */
export function titleOfTool(servers: readonly McpServer[], name: string): string | undefined {
  const found = definitionOf(servers, name);
  if (found?.server.trustState !== 'trusted') return undefined;
  const title = (found.tool.title ?? annotatedTitle(found.tool))?.trim();
  const isUsable = title !== undefined && title !== '' && title.length <= titleMax && !title.includes('\n');
  return isUsable && countHidden(title) === 0 ? title : undefined;
}

function annotatedTitle({ annotations }: McpTool): string | undefined {
  const title: unknown =
    typeof annotations === 'object' && annotations !== null ? Reflect.get(annotations, 'title') : undefined;
  return typeof title === 'string' ? title : undefined;
}

function definitionOf(servers: readonly McpServer[], name: string): { server: McpServer; tool: McpTool } | undefined {
  const { server: serverPart, tool: toolPart } = toolTitle(name);
  const found = servers
    .filter((server) => legible(server.name).slice(0, 24) === serverPart)
    .flatMap((server) =>
      server.tools.filter((tool) => legible(tool.name) === toolPart).map((tool) => ({ server, tool })),
    );
  return found.length === 1 ? found[0] : undefined;
}

/** The same conversion to provider-safe names as on the server. */
function legible(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_');
}
