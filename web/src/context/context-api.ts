import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';

/** Prompt context of one answer; immutable once the answer is complete. */
export function contextQuery(chatId: string, messageId: string) {
  return queryOptions({
    queryKey: ['context', chatId, messageId],
    queryFn: ({ signal }) => call('GET /api/chats/context', { query: { chatId, messageId }, signal }),
    staleTime: 60_000,
  });
}
