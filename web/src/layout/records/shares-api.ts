import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/api.ts';

/** The person's shared links, which are at most 200, and the installation's setting. */
export const sharesQuery = queryOptions({
  queryKey: ['shares'],
  queryFn: ({ signal }) => call('GET /api/shares', { query: { limit: '500' }, signal }),
  staleTime: 0,
});
