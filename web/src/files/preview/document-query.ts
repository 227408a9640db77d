import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/api.ts';
import type { FileScope } from '../../api/upload.ts';
import { scopeQuery } from '../file-address.ts';
import { filesKey } from '../files-api.ts';

/** A page by its number, or by what an answer calls it. */
export type PageChoice = { page: number } | { label: string };

const askAgainMs = 1_500;
/** Polls before giving up: a replica that dies while it reads is replaced after four minutes. */
const mostAsks = 240;

/** Query for a file's text as models read it; polls while the file is being read. */
export function documentQuery(scope: FileScope, id: string, choice?: PageChoice) {
  const asked = choice && ('page' in choice ? { page: String(choice.page) } : { label: choice.label });
  return queryOptions({
    queryKey: [...filesKey(scope), 'document', id, asked ?? null],
    queryFn: ({ signal }) => call('GET /api/artifacts/text', { query: { ...scopeQuery(scope), id, ...asked }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.state === 'working' && state.dataUpdateCount < mostAsks ? askAgainMs : false,
    staleTime: ({ state }) => (state.data?.state === 'ready' ? Number.POSITIVE_INFINITY : 0),
  });
}
