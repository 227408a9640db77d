import type { Assistant } from '@homeport/contracts/assistants';
import type { Chat } from '@homeport/contracts/chat/conversations';
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { effectiveModel, enabledModels } from '../../conversation/choices/model-choice.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import { useDecision } from './use-decision.ts';

/** The model of the next answer, the reason for it, and the default. `key` names the person's choice. */
export function useAnsweringModel(
  key: string,
  store: ConversationStore,
  chat: Chat | undefined,
  assistant: Assistant | null | undefined,
) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const models = enabledModels(catalogue?.providers ?? []);
  const { decision, setDecision } = useDecision(key, store, chat, catalogue && models);
  const ofAssistant = assistant ?? undefined;
  return {
    catalogue,
    decision,
    setDecision,
    ...effectiveModel(models, decision, chat, ofAssistant),
    standard: effectiveModel(models, { kind: 'default' }, chat, ofAssistant).model,
    parameters: ofAssistant?.parameters,
  };
}

export type AnsweringModel = ReturnType<typeof useAnsweringModel>;
