import type { AskedQuestions } from '@homeport/contracts/agent';
import type { DynamicToolPart, MessagePart } from '@homeport/contracts/frames';
import { questionsIn } from '@homeport/contracts/message-assembly';

/** What in a message waits for its person. */

/** A call whose questions have no answers yet; with `array.some` and the like. */
export function isOpenQuestion(part: MessagePart, _index: number, parts: readonly MessagePart[]): boolean {
  const asked = questionsIn(part);
  const call = asked && callOf(parts, asked.toolCallId);
  return asked !== undefined && isUnanswered(asked, call);
}

/** A server's question waits as long as its tool runs. */
export function isUnanswered({ from, outcome }: AskedQuestions, call: DynamicToolPart | undefined): boolean {
  if (from === undefined) return call?.state === 'input-available';
  return outcome === undefined && call !== undefined && (call.state === 'input-available' || call.preliminary === true);
}

export function callOf(parts: readonly MessagePart[], toolCallId: string): DynamicToolPart | undefined {
  return parts.find((part): part is DynamicToolPart => part.type === 'dynamic-tool' && part.toolCallId === toolCallId);
}
