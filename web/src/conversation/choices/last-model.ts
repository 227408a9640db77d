import type { Model } from '@homeport/contracts/catalogue/catalogue';
import type { ModelDecision } from '../submission.ts';

/** The model that a person chose for their last message, kept in this browser: new conversations begin with it. */

/** The item's name among the drafts. */
export const lastModelName = 'last-model';

/** The decision of a new conversation: the person's own, else the model they chose last if it is still there. */
export function startDecision(
  decision: ModelDecision,
  lastId: string,
  models: readonly Model[],
  hasAssistantModel: boolean,
): ModelDecision {
  if (decision.kind !== 'keep' || hasAssistantModel) return decision;
  const last = models.find(({ id }) => id === lastId);
  return last === undefined || last.isDefault ? decision : { kind: 'pin', modelId: last.id };
}

/** The model to remember once a message was sent with this decision. The default is no choice. */
export function rememberedModel(decision: ModelDecision, lastId: string): string {
  if (decision.kind === 'default') return '';
  return decision.kind === 'pin' ? decision.modelId : lastId;
}
