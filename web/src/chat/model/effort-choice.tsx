import type { Chat } from '@homeport/contracts/chat/conversations';
import { offeredEfforts } from '../../conversation/choices/effort.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import type { AnsweringModel } from './use-answering-model.ts';
import type { EffortState } from './use-effort.ts';

const EffortPicker = lazyComponent(async () => (await import('./effort-picker.tsx')).EffortPicker);

type Props = { chat: Chat | undefined; answering: AnsweringModel; effort: EffortState; isDisabled: boolean };

/** Reasoning effort of the next answer; shown for reasoning models, and where an effort is set or requested. */
export function EffortChoice({ chat, answering, effort, isDisabled }: Props) {
  const { model, parameters } = answering;
  const set = [chat?.parameters, parameters, model?.parameters];
  const inherited = set.find((each) => each?.reasoningEffort !== undefined)?.reasoningEffort;
  const reasoning = model?.abilities.reasoning;
  // An empty list says that the model reasons, not with which efforts.
  const isOffered = Array.isArray(reasoning);
  if (!isOffered && effort.chosen === undefined && inherited === undefined && effort.asked === 0) return null;
  return (
    <EffortPicker effort={effort} offered={offeredEfforts(reasoning)} inherited={inherited} isDisabled={isDisabled} />
  );
}
