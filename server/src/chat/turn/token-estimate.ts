import { estimateTokens } from '../../platform/text-tokens.ts';
import type { ChatMessage } from '../model/provider-messages.ts';

/** Token overhead of a message, and the fixed cost of an image of any size. */
const messageTokens = 4;
const imageTokens = 1000;
/** A document that goes whole: about what its pages cost as text and pictures, by the length of its data. */
const documentCharactersPerToken = 100;

/** Estimates the tokens of provider messages; an image counts once, independent of the length of its data. */
export function estimateMessages(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0);
}

export function estimateMessage(message: ChatMessage): number {
  let tokens = messageTokens;
  for (const text of messageTexts(message)) tokens += estimateTokens(text);
  if (message.role === 'tool') tokens += imageTokens * (message.pictures?.length ?? 0);
  if (Array.isArray(message.content)) {
    for (const part of message.content) {
      if (part.type === 'image_url') tokens += imageTokens;
      else if (part.type === 'file') tokens += imageTokens + part.file.file_data.length / documentCharactersPerToken;
    }
  }
  return Math.ceil(tokens);
}

/** All text of a message that a model reads. */
export function messageTexts(message: ChatMessage): string[] {
  const { content } = message;
  const texts = Array.isArray(content)
    ? content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    : [content ?? ''];
  if (message.role !== 'assistant') return texts;
  const calls = message.tool_calls?.map((call) => `${call.function.name} ${call.function.arguments}`) ?? [];
  return [...texts, message.reasoning_content ?? '', ...calls];
}
