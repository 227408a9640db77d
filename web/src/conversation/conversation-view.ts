import type { Plan } from '@homeport/contracts/agent';
import type { Chat, Message, QueuedInput } from '@homeport/contracts/conversations';
import type { ProviderWait } from '@homeport/contracts/frames';
import type { Summary } from '@homeport/contracts/summaries';
import type { ApiFailure } from '../api-failure.ts';

/** One conversation as this browser sees it. */
export type ConversationView = {
  phase: 'loading' | 'ready' | 'failed';
  /** Why it could not be loaded. */
  failure: ApiFailure | undefined;
  chat: Chat | undefined;
  /** The active branch, oldest first, with the answer that is arriving. */
  messages: readonly Message[];
  inputs: readonly QueuedInput[];
  response: ResponseRef | null;
  connection: 'idle' | 'following' | 'reconnecting';
  nextBefore: string | null;
  isStopping: boolean;
  /** The server waits before it asks the provider of the running answer again. */
  providerWait: ProviderWait | undefined;
  /** Of the shown branch, oldest first. */
  summaries: readonly Summary[];
  /** The plan of the shown branch when it was loaded. */
  plan: Plan | null;
  /** Earlier messages are being summarized before the running answer. */
  isSummarizing: boolean;
  /** Why the summary that was asked for last could not be made. */
  summaryFailure: string | undefined;
  /** An admitted input whose response could not be begun. */
  startFailure: { messageId: string; failure: ApiFailure } | undefined;
};
/** `compaction` makes a summary and no message. */
export type ResponseRef = { assistantId: string; messageId: string; kind?: 'answer' | 'compaction' };

/** Everything of an arriving answer but its words. */
export function shapeOf({ id, status, parts, usage, error }: Message): string {
  const states = parts.map((part) => `${part.type} ${'state' in part ? part.state : ''}`);
  return [id, status, usage?.outputTokens, error?.code, ...states].join();
}

export const emptyView: ConversationView = {
  phase: 'loading',
  failure: undefined,
  chat: undefined,
  messages: [],
  inputs: [],
  response: null,
  connection: 'idle',
  nextBefore: null,
  isStopping: false,
  providerWait: undefined,
  summaries: [],
  plan: null,
  isSummarizing: false,
  summaryFailure: undefined,
  startFailure: undefined,
};
