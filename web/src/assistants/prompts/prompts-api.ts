import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { call } from '../../api/api.ts';

/** Pages of the available prompts that contain the words `q`; every key begins with `prompts`. */
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
