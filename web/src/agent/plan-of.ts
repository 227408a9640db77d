import type { PlanItem } from '@homeport/contracts/chat/agent';
import type { Message } from '@homeport/contracts/chat/conversations';
import type { MessagePart } from '@homeport/contracts/chat/frames';

/** The plan that a call of the tool `plan` has set; undefined for anything else. */
export function plannedIn(part: MessagePart): readonly PlanItem[] | undefined {
  if (part.type !== 'dynamic-tool' || part.toolName !== 'plan' || part.state !== 'output-available') return undefined;
  const { input } = part;
  const items = typeof input === 'object' && input !== null && 'items' in input ? input.items : undefined;
  return Array.isArray(items) ? items.filter(isItem) : undefined;
}

function isItem(item: unknown): item is PlanItem {
  return (
    typeof item === 'object' &&
    item !== null &&
    'content' in item &&
    typeof item.content === 'string' &&
    'status' in item &&
    typeof item.status === 'string' &&
    ['pending', 'in_progress', 'completed', 'cancelled'].includes(item.status)
  );
}

const read = new WeakMap<readonly MessagePart[], readonly PlanItem[] | null>();

/** The newest plan of these messages, or else the server's for the branch. */
export function newestPlan(
  messages: readonly Message[],
  stored: { items: readonly PlanItem[] } | null,
): readonly PlanItem[] | undefined {
  for (const { parts } of messages.toReversed()) {
    const items = planOf(parts);
    if (items !== null) return items;
  }
  return stored?.items;
}

function planOf(parts: readonly MessagePart[]): readonly PlanItem[] | null {
  const known = read.get(parts);
  if (known !== undefined) return known;
  const part = parts.findLast((each) => plannedIn(each) !== undefined);
  const items = (part && plannedIn(part)) ?? null;
  read.set(parts, items);
  return items;
}

/** A plan is shown while there is something to do in it, or an answer is running. */
export function openPlan(items: readonly PlanItem[] | undefined, isRunning: boolean): readonly PlanItem[] | undefined {
  const isOpen = items?.some(({ status }) => status === 'pending' || status === 'in_progress');
  return isOpen || isRunning ? items : undefined;
}
