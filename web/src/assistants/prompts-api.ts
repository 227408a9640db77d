import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { call } from '../api.ts';

/** Pages of the prompts that one may use and that have the words `q` in them; every key begins with `prompts`. */
export function promptsQuery(q: string) {
  return infiniteQueryOptions({
    queryKey: ['prompts', 'list', q],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/prompts', { query: { q, cursor: pageParam, limit: '100' }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}
