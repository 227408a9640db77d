import type { Assistant } from '@homeport/contracts/assistants';
import type { Chat } from '@homeport/contracts/chat/conversations';
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { lastModelName, rememberedModel, startDecision } from '../../conversation/choices/last-model.ts';
import { effectiveModel, enabledModels } from '../../conversation/choices/model-choice.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { ModelDecision } from '../../conversation/submission.ts';
import { useDraft } from '../../conversation/use-draft.ts';
import { useDecision } from './use-decision.ts';

/**
 * The model of the next answer, the reason for it, and the default. `key` names the person's choice; a new conversation
 * begins with the model that they chose last.
 */
export function useAnsweringModel(
  key: string,
  store: ConversationStore,
  isNew: boolean,
  chat: Chat | undefined,
  assistant: Assistant | null | undefined,
) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const models = enabledModels(catalogue?.providers ?? []);
  const { decision: own, setDecision: setOwn } = useDecision(key, store, chat, catalogue && models);
  const { drafts } = useClientSession();
  const { text: lastId } = useDraft(lastModelName);
  const ofAssistant = assistant ?? undefined;
  const hasAssistantModel = typeof ofAssistant?.modelId === 'string' || typeof ofAssistant?.tier === 'number';
  const decision = isNew ? startDecision(own, lastId, models, hasAssistantModel) : own;
  const setDecision = (next: ModelDecision) => {
    // On the start page, the default replaces the model chosen last.
    if (isNew && next.kind === 'keep') drafts.replace(lastModelName, '');
    setOwn(next);
  };
  return {
    catalogue,
    decision,
    setDecision,
    /** Remembers the model of a message that is being sent. */
    remember: () => {
      drafts.replace(lastModelName, rememberedModel(decision, lastId));
      if (isNew) setOwn(decision);
    },
    ...effectiveModel(models, decision, chat, ofAssistant),
    standard: effectiveModel(models, { kind: 'default' }, chat, ofAssistant).model,
    parameters: ofAssistant?.parameters,
  };
}

export type AnsweringModel = ReturnType<typeof useAnsweringModel>;
