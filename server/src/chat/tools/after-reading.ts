import type { Platform } from '../../platform.ts';
import { asksAfterReading } from '../../web-search/settings.ts';
import { hasRead, isKnownAddress } from '../../web-search/sources.ts';
import { findWebAddress } from '../../web-search/web-address.ts';
import { verdictOn } from './call-run.ts';
import type { FindTools, ToolUser } from './find-tools.ts';
import type { Tool } from './tool-run.ts';

/**
 * Pages cannot command (docs/web-search.md): once an answer has read from the web, calls with effects need the person's
 * approval until it ends, whatever rules allow them.
 */

/** Tools that neither change anything nor send anything away. All others, and all of MCP servers, have effects. */
const harmless: ReadonlySet<string> = new Set([
  'plan',
  'ask',
  'skill',
  'search_documents',
  'read_document',
  'read_file',
  'list_files',
  'search_files',
  'web_search',
  // A report stays in the conversation, like the answer itself.
  'write_report',
]);

/** Tools whose calls are judged by what the answer has read so far, after the rules. */
export function asking(deps: Pick<Platform, 'db'>, find: FindTools): FindTools {
  return async (turn, signal, notify) => {
    const tools = await find(turn, signal, notify);
    // Without the web, nothing can be read.
    if (!tools.some(({ name }) => name === 'read_page')) return tools;
    return tools.map((tool) => askingTool(deps, turn.response, tool));
  };
}

function askingTool(deps: Pick<Platform, 'db'>, response: ToolUser['response'], tool: Tool): Tool {
  if (harmless.has(tool.name) || tool.questionsOf !== undefined) return tool;
  return {
    ...tool,
    async judge(input) {
      const verdict = await verdictOn(tool, input);
      // A command that can only read and has no connections has no effects.
      if (verdict.policy !== 'allow' || verdict.readOnly !== undefined) return verdict;
      return (await mustAsk(deps, response, tool, input)) ? { policy: 'ask' } : verdict;
    },
  };
}

async function mustAsk(
  { db: { kysely } }: Pick<Platform, 'db'>,
  { id, owner_id: ownerId, chat_id: chatId }: ToolUser['response'],
  tool: Tool,
  input: Record<string, unknown>,
): Promise<boolean> {
  // Looking at a running command changes nothing.
  if (tool.effect === 'command' && typeof input.processId === 'string') return false;
  if (!(await hasRead(kysely, id)) || !(await asksAfterReading(kysely, ownerId))) return false;
  if (tool.name !== 'read_page') return true;
  const { url } = input;
  const address = typeof url === 'string' ? findWebAddress(url) : undefined;
  if (typeof url !== 'string' || address === undefined) return false;
  return !(await isKnownAddress(kysely, chatId, url.trim(), address));
}
