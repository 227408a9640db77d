import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';

export const tokensQuery = queryOptions({
  queryKey: ['tokens', 'own'],
  queryFn: ({ signal }) => call('GET /api/me/tokens', { signal }),
  staleTime: 0,
});

/** For administrators: the tokens of all users. */
export const allTokensQuery = infiniteQueryOptions({
  queryKey: ['tokens', 'all'],
  queryFn: ({ pageParam, signal }) =>
    call('GET /api/admin/tokens', { query: { cursor: pageParam, limit: '50' }, signal }),
  initialPageParam: '',
  getNextPageParam: (page) => page.nextCursor,
  staleTime: 0,
});
