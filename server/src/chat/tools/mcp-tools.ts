import type { ToolPolicy } from '@homeport/contracts/mcp/mcp';
import { z } from 'zod';
import { mcpBounds } from '../../mcp/bounds.ts';
import type { McpResult } from '../../mcp/tool-result.ts';
import { findMcpTools, type McpTurnTool, type TurnToolDeps } from '../../mcp/turn-tools.ts';
import type { FindTools } from './find-tools.ts';
import { answerWithFiles, type McpFileDeps } from './mcp-files.ts';
import type { FileOwner } from './stored-file.ts';
import { defineTool } from './tool-input.ts';
import { type Tool, type ToolAnswer, ToolFailure } from './tool-run.ts';

type Deps = TurnToolDeps & McpFileDeps;

/** Links in the results of this turn, each with the tool that returned it. */
type Links = Map<string, McpTurnTool>;

const linksMax = 1000;

const resourceInput = z.object({
  uri: z.string().min(1).max(2048).describe('The address, exactly as a tool result of this turn has it.'),
});

/** Returns the tools of MCP servers for a turn: servers named by the submission, else by the conversation, else all. */
export function createMcpToolFinder(deps: Deps): FindTools {
  return async ({ response, context, isAwaited }, _signal, notify) => {
    const { mcpServerIds } = response.decision;
    const serverIds = mcpServerIds === undefined ? context.mcpServerIds : mcpServerIds;
    const { owner_id: ownerId, chat_id: chatId } = response;
    const found = await findMcpTools(deps, { ownerId, chatId, serverIds, isAwaited }, notify);
    const links: Links = new Map();
    const tools = found.map((tool) => mcpTool(deps, response, tool, links));
    return tools.length === 0 ? tools : [...tools, resourceTool(deps, response, links)];
  };
}

function mcpTool(deps: Deps, owner: FileOwner, found: McpTurnTool, links: Links): Tool {
  const { call, readResource: _, ...tool } = found;
  return {
    ...tool,
    // The connection ends a silent call sooner.
    timeoutMs: mcpBounds.callTotalMs,
    async execute(input, { signal, report, ask }) {
      return answerOf(deps, owner, await call(input, signal, { report, ask }), { found, links, signal });
    },
  };
}

/** Reads links that the tools of this turn returned; offered from the first one on. */
function resourceTool(deps: Deps, owner: FileOwner, links: Links): Tool {
  const tool = defineTool({
    name: 'read_resource',
    description: 'Reads a resource that the result of an MCP tool links to, from the server that named it.',
    input: resourceInput,
    async run({ uri }, { signal }) {
      const found = links.get(uri);
      if (found === undefined) throw new ToolFailure('No tool result of this turn links to this address.');
      return answerOf(deps, owner, await found.readResource(uri, signal), { found, links, signal });
    },
  });
  return { ...tool, isOffered: () => links.size > 0, readPolicy: () => strictest(links) };
}

async function answerOf(
  deps: Deps,
  owner: FileOwner,
  result: McpResult,
  { found, links, signal }: { found: McpTurnTool; links: Links; signal: AbortSignal },
): Promise<ToolAnswer> {
  if ('errorText' in result) throw new ToolFailure(result.errorText);
  for (const uri of result.links ?? []) if (links.size < linksMax) links.set(uri, found);
  return answerWithFiles(deps, owner, result, signal);
}

/** The policy `ask` if a tool that returned links has another policy than `allow`. */
async function strictest(links: Links): Promise<ToolPolicy> {
  for (const tool of new Set(links.values())) if ((await tool.readPolicy()) !== 'allow') return 'ask';
  return 'allow';
}
