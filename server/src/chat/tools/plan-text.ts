import type { PlanItem } from '@homeport/contracts/chat/agent';

const marks: Record<PlanItem['status'], string> = {
  pending: '[ ]',
  in_progress: '[in progress]',
  completed: '[done]',
  cancelled: '[cancelled]',
};

/** The plan for a model that no longer sees the call that made it. */
export function planText(items: readonly PlanItem[]): string {
  return items.map(({ content, status }) => `- ${marks[status]} ${content}`).join('\n');
}
