import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import type { FileScope } from '../api/upload.ts';
import { scopeQuery } from './file-address.ts';
import { filesKey } from './files-api.ts';
import type { PageChoice } from './preview/document-query.ts';

/** Citation in an answer: the name of a file and of a page in it. */
export type Citation = { name: string; at: string; projectId?: string | null };

/** The newest file of that name: the conversation's own, otherwise its project's; null if there is none. */
export function citedFileQuery(scope: FileScope, { name, projectId }: Citation) {
  const scopes: FileScope[] = projectId ? [scope, { projectId }] : [scope];
  return queryOptions({
    queryKey: [...filesKey(scope), 'cited', name, projectId ?? null],
    queryFn: async ({ signal }) => {
      for (const each of scopes) {
        const { artifacts } = await call('GET /api/artifacts', {
          query: { ...scopeQuery(each), q: name, limit: '100' },
          signal,
        });
        const named = artifacts.filter(({ filename }) => filename.toLowerCase() === name.toLowerCase());
        const [newest] = named.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
        if (newest) return { scope: each, id: newest.id };
      }
      return null;
    },
  });
}

/** `3` and `p. 3` mean the page by its number; anything else is what the page is called. */
export function pageChoice(at: string): PageChoice {
  const number = /^(?:p\.?\s*)?(\d{1,6})$/i.exec(at.trim())?.[1];
  return number === undefined || Number(number) < 1 ? { label: at.trim() } : { page: Number(number) };
}
