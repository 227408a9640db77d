import type { OwnWebSearch } from '@homeport/contracts/web-search';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';

/** Search service of the installation, for administrators. */
export const generalWebSearchQuery = queryOptions({
  queryKey: ['web-search', 'general'],
  gcTime: 0,
  queryFn: ({ signal }) => call('GET /api/admin/web-search', { signal }),
});

/** Own search service, and whether the installation offers one. */
export const ownWebSearchQuery = queryOptions({
  queryKey: ['web-search', 'own'],
  queryFn: ({ signal }) => call('GET /api/me/web-search', { signal }),
});

/** Whether models can search for this person, with their own service or that of the installation. */
export function hasSearchService({ kind, isOffered }: Pick<OwnWebSearch, 'kind' | 'isOffered'>): boolean {
  return kind !== 'off' || isOffered;
}
