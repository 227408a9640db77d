import type { UsageReport } from '@homeport/contracts/usage';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';

type Wanted = { from: string; to: string; by: UsageReport['by'] };

export function myUsageQuery(query: Wanted) {
  return queryOptions({
    queryKey: ['usage', 'me', query],
    queryFn: ({ signal }) => call('GET /api/me/usage', { query, signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}

export function allUsageQuery(query: Wanted) {
  return queryOptions({
    queryKey: ['usage', 'all', query],
    queryFn: ({ signal }) => call('GET /api/admin/usage', { query, signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}

export const budgetsQuery = queryOptions({
  queryKey: ['usage', 'budgets'],
  queryFn: ({ signal }) => call('GET /api/admin/budgets', { signal }),
  staleTime: 0,
});

/** The same report as a file. */
export function csvAddress(place: 'me' | 'admin', query: Wanted): string {
  return `/api/${place}/usage?${new URLSearchParams({ ...query, format: 'csv' })}`;
}
