import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/api.ts';

const pollMs = 2_000;

export const overviewQuery = queryOptions({
  queryKey: ['admin-overview'],
  queryFn: ({ signal }) => call('GET /api/admin/overview', { signal }),
  staleTime: 0,
  refetchInterval: (query) => (query.state.data?.overview.backups.isRunning === true ? pollMs : false),
});

/** The check starts a workspace and asks the proxy, so its result is kept for some minutes. */
export const checkQuery = queryOptions({
  queryKey: ['admin-check'],
  queryFn: async ({ signal }) => {
    const { checks } = await call('GET /api/admin/doctor', { signal });
    return { checks, checkedAt: new Date().toISOString() };
  },
  staleTime: 300_000,
});
