import type { MessagePart } from '@homeport/contracts/chat/frames';

/** The text parts of a message as the markdown they are. */
export function messageText(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}
