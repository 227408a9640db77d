import { mcpBounds } from '../../mcp/bounds.ts';
import { findMcpTools, type TurnToolDeps } from '../../mcp/turn-tools.ts';
import type { FindTools } from './find-tools.ts';
import { type Tool, ToolAnswer, ToolFailure } from './tool-run.ts';

/** Returns the tools of MCP servers for a turn: servers named by the submission, else by the conversation, else all. */
export function createMcpToolFinder(deps: TurnToolDeps): FindTools {
  return async ({ response, context, isAwaited }, _signal, notify) => {
    const { mcpServerIds } = response.decision;
    const serverIds = mcpServerIds === undefined ? context.mcpServerIds : mcpServerIds;
    const { owner_id: ownerId, chat_id: chatId } = response;
    const found = await findMcpTools(deps, { ownerId, chatId, serverIds, isAwaited }, notify);
    return found.map(
      ({ call, ...tool }): Tool => ({
        ...tool,
        // The connection ends a silent call sooner.
        timeoutMs: mcpBounds.callTotalMs,
        async execute(input, { signal, report, ask }) {
          const result = await call(input, signal, { report, ask });
          if ('errorText' in result) throw new ToolFailure(result.errorText);
          return new ToolAnswer(result.output, result.files, result.whole);
        },
      }),
    );
  };
}
