import type { AskedQuestions } from '@homeport/contracts/chat/agent';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';

/** A server's question waits as long as its tool runs. */
export function isUnanswered({ from, outcome }: AskedQuestions, call: DynamicToolPart | undefined): boolean {
  if (from === undefined) return call?.state === 'input-available';
  return outcome === undefined && call !== undefined && (call.state === 'input-available' || call.preliminary === true);
}
