import type { Assistant } from '@homeport/contracts/assistants';
import type { Chat } from '@homeport/contracts/chat/conversations';
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { effectiveModel, enabledModels } from '../../conversation/choices/model-choice.ts';
import type { ModelDecision } from '../../conversation/submission.ts';

/** The model of the next answer, the reason for it, and the default. */
export function useAnsweringModel(
  decision: ModelDecision,
  chat: Chat | undefined,
  assistant: Assistant | null | undefined,
) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const models = enabledModels(catalogue?.providers ?? []);
  const ofAssistant = assistant ?? undefined;
  return {
    catalogue,
    ...effectiveModel(models, decision, chat, ofAssistant),
    standard: effectiveModel(models, { kind: 'default' }, chat, ofAssistant).model,
    parameters: ofAssistant?.parameters,
  };
}

export type AnsweringModel = ReturnType<typeof useAnsweringModel>;
