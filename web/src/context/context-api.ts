import { queryOptions } from '@tanstack/react-query';
import { call } from '../api.ts';

/** What the model was told with one answer; it changes no more once the answer is there. */
export function contextQuery(chatId: string, messageId: string) {
  return queryOptions({
    queryKey: ['context', chatId, messageId],
    queryFn: ({ signal }) => call('GET /api/chats/context', { query: { chatId, messageId }, signal }),
    staleTime: 60_000,
  });
}
