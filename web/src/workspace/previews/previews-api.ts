import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/api.ts';

/** An app of the workspace: its port, and the page of it that is opened. */
export type AppPlace = { port: number; at: string };

/** Programs come and go by themselves. */
export const portsQuery = queryOptions({
  queryKey: ['workspace', 'ports'],
  queryFn: ({ signal }) => call('GET /api/workspace/ports', { signal }),
  staleTime: 0,
  refetchInterval: 3_000,
});

/** Query for a single-use preview URL: fetched for each `round`, never refetched automatically. */
export function previewQuery({ port, at }: AppPlace, round: number) {
  return queryOptions({
    queryKey: ['workspace', 'preview', port, at, round],
    queryFn: () => openPreview({ port, at }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

export function openPreview({ port, at }: AppPlace) {
  return call('POST /api/workspace/previews', { body: { port, path: at } });
}
