import type { Plan } from '@homeport/contracts/chat/agent';
import type { Chat, Message, QueuedInput } from '@homeport/contracts/chat/conversations';
import type { ProviderWait } from '@homeport/contracts/chat/frames';
import type { Summary } from '@homeport/contracts/chat/summaries';
import type { ApiFailure } from '../api/api-failure.ts';

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
  /** The server waits before it retries the request to the provider. */
  providerWait: ProviderWait | undefined;
  /** Of the shown branch, oldest first. */
  summaries: readonly Summary[];
  /** The plan of the shown branch when it was loaded. */
  plan: Plan | null;
  /** Earlier messages are being summarized before the running answer. */
  isSummarizing: boolean;
  /** Failure of the last requested summary. */
  summaryFailure: string | undefined;
  /** An admitted input whose response could not be begun. */
  startFailure: { messageId: string; failure: ApiFailure } | undefined;
};
/** `compaction` makes a summary and no message. */
export type ResponseRef = { assistantId: string; messageId: string; kind?: 'answer' | 'compaction' };

/** A streaming answer without its text. */
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
