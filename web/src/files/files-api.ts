import type { Artifact } from '@homeport/contracts/files/artifacts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call, readText } from '../api/api.ts';
import type { FileScope } from '../api/upload.ts';
import { scopeQuery, versionQuery } from './file-address.ts';

const pageSize = '500';

/** The beginning of every query key of one namespace. */
export function filesKey(scope: FileScope) {
  return ['files', scope.chatId ?? scope.projectId ?? scope.assistantId] as const;
}

/** The files of a namespace by path; with `q`, those that match. */
export function filesQuery(scope: FileScope, q: string) {
  return infiniteQueryOptions({
    queryKey: [...filesKey(scope), 'list', q],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/artifacts', {
        query: { ...scopeQuery(scope), q: q || undefined, cursor: pageParam || undefined, limit: pageSize },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
  });
}

export function fileQuery(scope: FileScope, id: string) {
  return queryOptions({
    queryKey: [...filesKey(scope), 'stat', id],
    queryFn: async ({ signal }) =>
      (await call('GET /api/artifacts/stat', { query: { ...scopeQuery(scope), id }, signal })).artifact,
  });
}

/** The beginning of a text file. */
export function fileTextQuery(scope: FileScope, { id, sha256 }: Artifact, version?: number) {
  return queryOptions({
    queryKey: [...filesKey(scope), 'text', id, sha256],
    queryFn: ({ signal }) =>
      readText('GET /api/artifacts/preview', { ...scopeQuery(scope), id, ...versionQuery(version) }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Query for a stored text file; use it for small files only. */
export function wholeTextQuery(scope: FileScope, { id, sha256 }: Artifact, version?: number) {
  return queryOptions({
    queryKey: [...filesKey(scope), 'whole', id, sha256],
    queryFn: ({ signal }) =>
      readText('GET /api/artifacts/download', { ...scopeQuery(scope), id, ...versionQuery(version) }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

/** Query for the kept versions of a file, keyed by its content. */
export function versionsQuery(scope: FileScope, { id, version }: Artifact) {
  return queryOptions({
    queryKey: [...filesKey(scope), 'versions', id, version],
    queryFn: async ({ signal }) =>
      (await call('GET /api/artifacts/versions', { query: { ...scopeQuery(scope), id }, signal })).versions,
  });
}
