import type { Chat } from '@homeport/contracts/conversations';
import { lazyPart } from '../frame/lazy-part.tsx';
import type { AnsweringModel } from './use-answering-model.ts';
import type { EffortState } from './use-effort.ts';

const EffortPicker = lazyPart(async () => (await import('./effort-picker.tsx')).EffortPicker);

type Props = { chat: Chat | undefined; answering: AnsweringModel; effort: EffortState; isDisabled: boolean };

/** The effort of the next answer, where somebody has set one or asks for it. */
export function EffortChoice({ chat, answering, effort, isDisabled }: Props) {
  const { model, parameters } = answering;
  const set = [chat?.parameters, parameters, model?.parameters];
  const inherited = set.find((each) => each?.reasoningEffort !== undefined)?.reasoningEffort;
  if (effort.chosen === undefined && inherited === undefined && effort.asked === 0) return null;
  return <EffortPicker effort={effort} inherited={inherited} isDisabled={isDisabled} />;
}
