import type { ImportEntry, ImportRecord } from '@homeport/contracts/imports';
import { csvCell } from '@homeport/contracts/text/csv';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';

/** Queries for imports, polled while one is running. */

const movingStates: readonly ImportRecord['state'][] = ['reading', 'importing'];
const lookEveryMs = 1_000;

export const isInProgress = ({ state }: ImportRecord): boolean => movingStates.includes(state);

export const importsQuery = queryOptions({
  queryKey: ['imports'],
  queryFn: async ({ signal }) => {
    const answer = await call('GET /api/imports', { query: {}, signal });
    return 'imports' in answer ? answer.imports : [];
  },
  staleTime: 0,
  refetchInterval: ({ state }) => (state.data?.some(isInProgress) === true ? lookEveryMs : false),
});

type Page = { entries: ImportEntry[]; nextCursor: string | null };

export async function listEntries(id: string, cursor: string | undefined, signal?: AbortSignal): Promise<Page> {
  const query = { id, cursor, limit: '100' };
  const answer = await call('GET /api/imports', { query, ...(signal === undefined ? {} : { signal }) });
  return 'entries' in answer ? answer : { entries: [], nextCursor: null };
}

/** The whole report as CSV, which spreadsheets open. */
export async function reportOf({ id }: ImportRecord): Promise<string> {
  const rows = ['title,kind,result,reason,messages,files'];
  let cursor: string | undefined;
  do {
    const page = await listEntries(id, cursor);
    for (const { title, kind, outcome, reason, messages, files } of page.entries) {
      rows.push([title, kind, outcome, reason ?? '', messages, files].map(csvCell).join(','));
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return `${rows.join('\r\n')}\r\n`;
}
