import type { ChatDetail, Message } from '@homeport/contracts/chat/conversations';
import type { MessagePart } from '@homeport/contracts/chat/frames';

/**
 * A conversation without what this client cannot show: malformed messages and parts, or those of a later version, are
 * left out, so that they affect nothing else. Undefined if it is not a conversation at all.
 */
export function readableDetail(answer: unknown): ChatDetail | undefined {
  if (!isRecord(answer) || !isRecord(answer.chat) || typeof answer.chat.id !== 'string') return undefined;
  const { messages, inputs, response } = answer;
  if (!Array.isArray(messages) || !Array.isArray(inputs)) return undefined;
  if (response !== null && !(isRecord(response) && typeof response.assistantId === 'string')) return undefined;
  return {
    ...(answer as ChatDetail),
    messages: messages.filter(isMessage).map((message) => ({ ...message, parts: message.parts.filter(isPart) })),
  };
}

function isMessage(value: unknown): value is Message {
  return (
    isRecord(value) && typeof value.id === 'string' && Array.isArray(value.parts) && Array.isArray(value.siblingIds)
  );
}

function isPart(value: unknown): value is MessagePart {
  if (!isRecord(value) || typeof value.type !== 'string') return false;
  if (value.type === 'text' || value.type === 'reasoning') return typeof value.text === 'string';
  if (value.type === 'dynamic-tool') return typeof value.toolName === 'string' && typeof value.state === 'string';
  return value.type !== 'file' || typeof value.url === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
