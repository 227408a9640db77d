import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';

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

export function versionsQuery(id: string) {
  return queryOptions({
    queryKey: ['assistants', 'versions', id],
    queryFn: async ({ signal }) => (await call('GET /api/assistants/versions', { query: { id }, signal })).versions,
    staleTime: 0,
  });
}
