import type { Assistant } from '@homeport/contracts/assistants';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../api.ts';
import { ApiFailure } from '../api-failure.ts';

/** Server state of assistants, as TanStack Query options; every key begins with `assistants`. */

/** Pages of the assistants that one may use and that have the words `q` in them. */
export function assistantsQuery(q: string) {
  return infiniteQueryOptions({
    queryKey: ['assistants', 'list', q],
    queryFn: async ({ pageParam, signal }) => {
      const answer = await call('GET /api/assistants', { query: { q, cursor: pageParam, limit: '100' }, signal });
      if ('assistants' in answer) return answer;
      throw new ApiFailure('unreadable', '');
    },
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}

/** One assistant; null when there is none of this id for the reader. */
export function assistantQuery(id: string) {
  return queryOptions({
    queryKey: ['assistants', 'one', id],
    queryFn: async ({ signal }): Promise<Assistant | null> => {
      try {
        const answer = await call('GET /api/assistants', { query: { id }, signal });
        if ('assistant' in answer) return answer.assistant;
      } catch (error) {
        if (error instanceof ApiFailure && error.code === 'not_found') return null;
        throw error;
      }
      throw new ApiFailure('unreadable', '');
    },
  });
}

export function versionsQuery(id: string) {
  return queryOptions({
    queryKey: ['assistants', 'versions', id],
    queryFn: async ({ signal }) => (await call('GET /api/assistants/versions', { query: { id }, signal })).versions,
    staleTime: 0,
  });
}
