import type { MessagePart } from '@homeport/contracts/chat/frames';
import { type ChatMessage, stepMessages, toProviderMessages, toSteps } from '../model/provider-messages.ts';
import { estimateMessages } from './token-estimate.ts';

/** Provider messages of a stored message, kept so that later turns need not build them again. */
export type StoredPrompt = { prompt: string; promptTokens: number };

/**
 * `prompt` is the inside of a JSON array of provider messages. Reasoning is left out: it goes back only within its
 * turn.
 */
export function promptOf(role: 'user' | 'assistant', parts: readonly MessagePart[]): StoredPrompt {
  const messages =
    role === 'user'
      ? toProviderMessages([{ role, parts: [...parts] }])
      : toSteps([...parts]).flatMap((step) => stepMessages(step, false));
  return { prompt: JSON.stringify(messages).slice(1, -1), promptTokens: estimateMessages(messages) };
}

/** Reads stored prompts, oldest first; the text was made by `promptOf`. */
export function parsePrompts(prompts: readonly string[]): ChatMessage[] {
  const inside = prompts.filter((prompt) => prompt !== '').join(',');
  return parseStoredMessages(`[${inside}]`);
}

function parseStoredMessages(json: string): ChatMessage[] {
  return JSON.parse(json) as ChatMessage[];
}
