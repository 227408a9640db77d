import { planStatuses } from '@homeport/contracts/chat/agent';
import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';
import { writePlan } from '../../conversations/plans.ts';
import type { Platform } from '../../platform.ts';
import { defineTool } from './tool-input.ts';
import { type Tool, ToolFailure } from './tool-run.ts';

/** The tool `plan`: the steps of the work, shown to the person as they change (contract.md section 11). */

const description = `Shows the person your plan for work of three or more steps. Pass the whole list each time; an empty list removes the plan.
Keep at most one item in_progress. Update the plan as soon as an item is done, not all at once at the end. Word each item as the result that completes it.`;

const item = z.object({
  id: z.string().min(1).max(64).optional(),
  content: z.string().trim().min(1).max(limits.planItemMax),
  status: z.enum(planStatuses),
});
const input = z.object({ items: z.array(item).max(limits.planItemsMax) });

export function planTool(deps: Pick<Platform, 'db'>, response: { id: string; generation: number }): Tool {
  return defineTool({
    name: 'plan',
    description,
    input,
    async run({ items }) {
      const current = items.filter(({ status }) => status === 'in_progress');
      if (current.length > 1) throw new ToolFailure('At most one item can be in_progress.');
      const plan = items.map(({ id, content, status }) => ({ ...(id === undefined ? {} : { id }), content, status }));
      if (!(await writePlan(deps.db.kysely, response, plan))) throw new ToolFailure('The answer has ended.');
      const done = items.filter(({ status }) => status === 'completed').length;
      return items.length === 0 ? 'The plan was removed.' : `The plan is shown: ${done} of ${items.length} done.`;
    },
  });
}
