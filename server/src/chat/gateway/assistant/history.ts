import { randomUUIDv7 } from 'node:crypto';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { limits } from '@homeport/contracts/limits';
import { type ImportedMessage, wordsOf } from '../../../conversations/messages.ts';
import type { GatewayMessage, GatewayRequest } from '../gateway-request.ts';
import { invalidMember, unsupportedMember } from '../gateway-request.ts';
import { partsOf } from '../kept/conversation.ts';

/** The messages of a request as the conversation in which an assistant answers. */

type Turn = { role: 'user' | 'assistant'; parts: MessagePart[] };
export type AssistantRequest = {
  /** The client's instructions, which become those of the conversation. */
  instructions: string;
  /** Earlier messages and, at the end, the one to answer. */
  turns: Turn[];
};

/** Throws `invalid_request` for members that an assistant cannot honor. */
export function assertForAssistant({ tools, demands, messages }: GatewayRequest): void {
  if (tools.length > 0) throw unsupportedMember('tools', 'An assistant uses its own tools, not those of the client');
  const { format, topK, frequencyPenalty = 0, presencePenalty = 0 } = demands;
  if (format !== undefined) throw unsupportedMember('response_format', 'An assistant answers in text');
  if (topK !== undefined) throw unsupportedMember('top_k');
  if (frequencyPenalty !== 0) throw unsupportedMember('frequency_penalty');
  if (presencePenalty !== 0) throw unsupportedMember('presence_penalty');
  for (const message of messages) {
    const isOfTools = message.role === 'tool' || (message.role === 'assistant' && message.tool_calls !== undefined);
    if (isOfTools) throw unsupportedMember('messages', "Calls of the client's tools cannot be shown to an assistant");
    const hasFile = Array.isArray(message.content) && message.content.some(({ type }) => type === 'file');
    if (hasFile) throw unsupportedMember('messages', 'An assistant takes text and pictures');
  }
}

/** Neighbors of the same role become one message. Throws `invalid_request` unless the last one is the user's. */
export function toAssistantRequest(messages: readonly GatewayMessage[]): AssistantRequest {
  const instructions = messages.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n\n');
  if (instructions.length > limits.instructionsMax) {
    throw invalidMember('messages', `Instructions have at most ${limits.instructionsMax} characters`);
  }
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role !== 'user' && message.role !== 'assistant') continue;
    const parts = partsOf(message.content ?? '');
    const last = turns.at(-1);
    if (last?.role === message.role) last.parts.push(...parts);
    else turns.push({ role: message.role, parts });
  }
  if (turns.at(-1)?.role !== 'user') throw invalidMember('messages', 'The last message has to be one of the user');
  return { instructions, turns };
}

/** Rows of messages that follow each other, after the message `parentId`. */
export function rowsOf(
  chatId: string,
  parentId: string | null,
  turns: readonly Turn[],
  isSearchable: boolean,
): ImportedMessage[] {
  let previousId = parentId;
  return turns.map(({ role, parts }, place) => {
    const row = {
      n: 0,
      place,
      id: randomUUIDv7(),
      chatId,
      parentId: previousId,
      role,
      parts: JSON.stringify(parts),
      words: isSearchable ? wordsOf(parts) : '',
      createdAt: null,
    };
    previousId = row.id;
    return row;
  });
}
