import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';

/** Pages of the available skills; every key begins with `skills`. */
export const skillsQuery = infiniteQueryOptions({
  queryKey: ['skills', 'list'],
  queryFn: ({ pageParam, signal }) =>
    call('GET /api/skills', { query: pageParam === '' ? {} : { cursor: pageParam }, signal }),
  initialPageParam: '',
  getNextPageParam: (page) => page.nextCursor,
});

/** Every file of one, always as it is now. */
export function skillFilesQuery(id: string) {
  return queryOptions({
    queryKey: ['skills', 'files', id],
    queryFn: ({ signal }) => call('GET /api/skills/files', { query: { id }, signal }),
    staleTime: 0,
    gcTime: 0,
  });
}
