import type { Platform } from '../../platform.ts';
import { askTool } from './ask-tool.ts';
import type { FindTools } from './find-tools.ts';
import { planTool } from './plan-tool.ts';

/**
 * Adds `plan` and `ask` to other tools. Without other tools they are not offered, but a model that calls them because
 * earlier answers used them still gets them.
 */
export function withAgentTools(deps: Pick<Platform, 'db'>, find: FindTools): FindTools {
  return async (turn, signal, notify) => {
    const found = await find(turn, signal, notify);
    const own = [planTool(deps, turn.response), askTool];
    return [...found, ...(found.length > 0 ? own : own.map((tool) => ({ ...tool, isOffered: false })))];
  };
}
