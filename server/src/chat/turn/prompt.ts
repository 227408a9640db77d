import type { MessagePart } from '@homeport/contracts/chat/frames';
import { textStateLike } from '../model/fitting/reasoning.ts';
import { type ChatMessage, type Step, stepMessages, toProviderMessages, toSteps } from '../model/provider-messages.ts';
import type { HistoryState } from '../model/reasoning-state.ts';
import { estimateMessages } from './token-estimate.ts';

/** Provider messages of a stored message, kept so that later turns need not build them again. */
export type StoredPrompt = { prompt: string; promptTokens: number };

/**
 * `prompt` is the inside of a JSON array of provider messages. Reasoning is left out, but for the `state` that its
 * model wants back.
 */
export function promptOf(
  role: 'user' | 'assistant',
  parts: readonly MessagePart[],
  state?: HistoryState,
): StoredPrompt {
  const messages = promptMessages(role, parts, state);
  return { prompt: JSON.stringify(messages).slice(1, -1), promptTokens: estimateMessages(messages) };
}

/** The provider messages of a stored message. */
export function promptMessages(
  role: 'user' | 'assistant',
  parts: readonly MessagePart[],
  state?: HistoryState,
): ChatMessage[] {
  if (role === 'user') return toProviderMessages([{ role, parts: [...parts] }]);
  return toSteps([...parts]).flatMap((step) => withState(stepMessages(step, false), step, state));
}

/** A step without calls has its reasoning in the form of the others: some servers demand all of a turn with calls. */
function withState(messages: ChatMessage[], step: Step, state: HistoryState | undefined): ChatMessage[] {
  const [first, ...results] = messages;
  if (state === undefined || first?.role !== 'assistant') return messages;
  const [callId] = step.calls.map(({ id }) => id);
  const stepState =
    callId === undefined ? textStateLike([...state.steps.values()], step.reasoning) : state.steps.get(callId);
  return stepState === undefined ? messages : [{ ...first, stepState, stateOf: state.source }, ...results];
}

/** Reads stored prompts, oldest first; the text was made by `promptOf`. */
export function parsePrompts(prompts: readonly string[]): ChatMessage[] {
  const inside = prompts.filter((prompt) => prompt !== '').join(',');
  return parseStoredMessages(`[${inside}]`);
}

function parseStoredMessages(json: string): ChatMessage[] {
  return JSON.parse(json) as ChatMessage[];
}
