import type { Platform } from '../../platform.ts';
import { askTool } from './ask-tool.ts';
import type { FindTools } from './find-tools.ts';
import { planTool } from './plan-tool.ts';

/**
 * `plan` and `ask` beside other tools. Where there is nothing to work with they are not offered; as earlier answers may
 * show their use, a model that calls them all the same gets them.
 */
export function withAgentTools(deps: Pick<Platform, 'db'>, find: FindTools): FindTools {
  return async (turn, signal, notify) => {
    const found = await find(turn, signal, notify);
    const own = [planTool(deps, turn.response), askTool];
    return [...found, ...(found.length > 0 ? own : own.map((tool) => ({ ...tool, isOffered: false })))];
  };
}
