import type { ConversationView } from '../../conversation/conversation-view.ts';

export type UsedContext = {
  /** Tokens of the last exchange, which the next message adds to. */
  used: number;
  answerId: string | undefined;
  /** True if a summary was made since the answer began: its usage then no longer describes the context. */
  isStale: boolean;
};

/** Tokens of the last answer in the current context, input and output. */
export function usedContext({ messages, summaries, chat }: ConversationView): UsedContext {
  const startId = chat?.contextStartMessageId;
  const start = startId ? messages.findIndex((message) => message.id === startId) : -1;
  const last = messages.findLast((message, index) => index > start && message.usage !== undefined);
  const madeAt = summaries.at(-1)?.createdAt ?? '';
  const { inputTokens = 0, outputTokens = 0, contextTokens = inputTokens + outputTokens } = last?.usage ?? {};
  return { used: contextTokens, answerId: last?.id, isStale: last !== undefined && madeAt >= last.createdAt };
}
