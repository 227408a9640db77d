import type { Chat } from '@homeport/contracts/conversations';
import { useQuery } from '@tanstack/react-query';
import { effectiveModel, enabledModels } from '../conversation/model-choice.ts';
import type { ModelDecision } from '../conversation/submission.ts';
import { lazyPart } from '../frame/lazy-part.tsx';
import { catalogueQuery } from '../queries.ts';
import type { EffortState } from './use-effort.ts';

const EffortPicker = lazyPart(async () => (await import('./effort-picker.tsx')).EffortPicker);

type Props = { chat: Chat | undefined; decision: ModelDecision; effort: EffortState; isDisabled: boolean };

/** The effort of the next answer, where somebody has set one or asks for it. */
export function EffortChoice({ chat, decision, effort, isDisabled }: Props) {
  const { data } = useQuery(catalogueQuery);
  const { model } = effectiveModel(enabledModels(data?.providers ?? []), decision, chat);
  const inherited = chat?.parameters.reasoningEffort ?? model?.parameters.reasoningEffort;
  if (effort.chosen === undefined && inherited === undefined && effort.asked === 0) return null;
  return <EffortPicker effort={effort} inherited={inherited} isDisabled={isDisabled} />;
}
