import type { MessagePart } from '@homeport/contracts/chat/frames';

/** Parts as they were stored by this service: their text was validated before it was written. */
export function parseStoredParts(parts: string): MessagePart[] {
  return JSON.parse(parts) as MessagePart[];
}
