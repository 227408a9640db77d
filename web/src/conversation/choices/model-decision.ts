import type { ModelDecision } from '../submission.ts';
import { choiceOf, withChoice } from './kept-choices.ts';

/** The person's choice in the model picker of each conversation, kept in this browser until the server has applied it. */

/** The item's name among the drafts. */
export const decisionsName = 'model-decisions';

export function decisionOf(stored: string, key: string): ModelDecision {
  return choiceOf(stored, key, isDecision) ?? { kind: 'keep' };
}

/** `stored` with another decision of a conversation. */
export function withDecision(stored: string, key: string, decision: ModelDecision): string {
  return withChoice(stored, key, decision.kind === 'keep' ? undefined : decision);
}

/** The decision after its message was sent: a model for one turn is used up. */
export function afterSending(decision: ModelDecision): ModelDecision {
  return decision.kind === 'once' ? { kind: 'keep' } : decision;
}

/** True when the conversation does by itself what was decided. */
export function isApplied(decision: ModelDecision, chat: { modelPinned: boolean; modelId: string | null }): boolean {
  if (decision.kind === 'default') return !chat.modelPinned;
  return decision.kind === 'pin' && chat.modelPinned && chat.modelId === decision.modelId;
}

function isDecision(value: unknown): value is ModelDecision {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  if (value.kind === 'default') return true;
  return (value.kind === 'pin' || value.kind === 'once') && 'modelId' in value && typeof value.modelId === 'string';
}
