import type { DynamicToolPart, MessagePart } from '@homeport/contracts/chat/frames';
import { questionsIn } from '@homeport/contracts/chat/message-assembly';
import { isUnanswered } from '../../agent/unanswered.ts';

/** Parts of a message that wait for the person. */

/** A call whose questions have no answers yet; with `array.some` and the like. */
export function isOpenQuestion(part: MessagePart, _index: number, parts: readonly MessagePart[]): boolean {
  const asked = questionsIn(part);
  const call = asked && callOf(parts, asked.toolCallId);
  return asked !== undefined && isUnanswered(asked, call);
}

export function callOf(parts: readonly MessagePart[], toolCallId: string): DynamicToolPart | undefined {
  return parts.find((part): part is DynamicToolPart => part.type === 'dynamic-tool' && part.toolCallId === toolCallId);
}
