import { infiniteQueryOptions, QueryClient, queryOptions } from '@tanstack/react-query';
import { call, listConversations } from './api.ts';
import { ApiFailure } from './api-failure.ts';

/** All server state that pages share, as TanStack Query options: key and call in one place. */

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { staleTime: 15_000, retry: (count, error) => count < 2 && isTransient(error), networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call('GET /api/me', { signal }),
  staleTime: 60_000,
});

/** Names of the administrators to ask. */
export const administratorsQuery = queryOptions({
  queryKey: ['administrators'],
  queryFn: ({ signal }) => call('GET /api/me/administrators', { signal }),
  staleTime: 300_000,
});

export const personalizationQuery = queryOptions({
  queryKey: ['personalization'],
  queryFn: ({ signal }) => call('GET /api/me/personalization', { signal }),
  staleTime: 60_000,
});

export const publicConfigQuery = queryOptions({
  queryKey: ['public-config'],
  queryFn: ({ signal }) => call('GET /api/public-config', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Whether only administrators can write. */
export const maintenanceQuery = queryOptions({
  queryKey: ['maintenance'],
  queryFn: ({ signal }) => call('GET /api/maintenance', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** The release that serves this page. */
export const releaseQuery = queryOptions({
  queryKey: ['release'],
  queryFn: ({ signal }) => call('GET /api/live', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** For administrators. */
export const configQuery = queryOptions({
  queryKey: ['admin-config'],
  queryFn: ({ signal }) => call('GET /api/admin/config', { signal }),
});

export const catalogueQuery = queryOptions({
  queryKey: ['catalogue'],
  queryFn: ({ signal }) => call('GET /api/providers', { signal }),
  staleTime: 60_000,
});

/** The tiers that models of the own catalogue can have; those of shared models are only in the catalogue. */
export const tiersQuery = queryOptions({
  queryKey: [...catalogueQuery.queryKey, 'tiers'],
  queryFn: ({ signal }) => call('GET /api/model-tiers', { signal }),
  staleTime: 60_000,
});

/** Refetched only while it is visible. */
export const workspaceQuery = queryOptions({
  queryKey: ['workspace'],
  queryFn: ({ signal }) => call('GET /api/workspace/usage', { signal }),
  staleTime: 10_000,
});

/**
 * Milliseconds for a list of one page; a refresh fetches every loaded page, so longer lists are refreshed less often.
 */
const refresh = { running: 4_000, quiet: 30_000, hidden: 120_000 };

/** Pages of the conversation list; refreshed sooner while an answer is being written. */
export function chatsQuery(filter: { q: string; isArchived: boolean }) {
  return infiniteQueryOptions({
    queryKey: ['chats', filter],
    queryFn: ({ pageParam, signal }) =>
      listConversations(
        { q: filter.q, cursor: pageParam, limit: '50', ...(filter.isArchived ? { archived: '1' as const } : {}) },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: (query) => {
      const pages = query.state.data?.pages ?? [];
      const isRunning = pages.some((page) => page.chats.some((chat) => chat.running));
      const quiet = document.visibilityState === 'visible' ? refresh.quiet : refresh.hidden;
      return (isRunning ? refresh.running : quiet) * Math.max(1, pages.length / 2);
    },
    // A hidden tab also notices, and shows, that its answer is done.
    refetchIntervalInBackground: true,
  });
}

function isTransient(error: Error): boolean {
  return !(error instanceof ApiFailure) || error.status === 0 || error.status >= 500;
}
