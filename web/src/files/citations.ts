import type { Artifact } from '@homeport/contracts/files/artifacts';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import type { FileScope } from '../api/upload.ts';
import { scopeQuery } from './file-address.ts';
import { filesKey } from './files-api.ts';
import type { PageChoice } from './preview/document-query.ts';

/** Citation in an answer: the name of a file and of a page in it. */
export type Citation = { name: string; at: string; projectId?: string | null; assistantId?: string | null };

/** The newest file of that name: the conversation's own, otherwise its project's or its assistant's; null if none. */
export function citedFileQuery(scope: FileScope, { name, projectId, assistantId }: Citation) {
  const scopes: FileScope[] = [scope, ...(projectId ? [{ projectId }] : []), ...(assistantId ? [{ assistantId }] : [])];
  return queryOptions({
    queryKey: [...filesKey(scope), 'cited', name, projectId ?? null, assistantId ?? null],
    queryFn: async ({ signal }) => {
      for (const each of scopes) {
        const artifacts = await filesNamed(each, name, signal);
        const named = artifacts.filter(({ filename }) => filename.toLowerCase() === name.toLowerCase());
        const [newest] = named.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
        if (newest) return { scope: each, id: newest.id };
      }
      return null;
    },
  });
}

/** Empty for an assistant that the person may not use any more. */
async function filesNamed(scope: FileScope, name: string, signal: AbortSignal): Promise<Artifact[]> {
  const query = { ...scopeQuery(scope), q: name, limit: '100' };
  try {
    return (await call('GET /api/artifacts', { query, signal })).artifacts;
  } catch (error) {
    if (scope.assistantId !== undefined && error instanceof ApiFailure && error.code === 'not_found') return [];
    throw error;
  }
}

/** `3` and `p. 3` mean the page by its number; anything else is what the page is called. */
export function pageChoice(at: string): PageChoice {
  const number = /^(?:p\.?\s*)?(\d{1,6})$/i.exec(at.trim())?.[1];
  return number === undefined || Number(number) < 1 ? { label: at.trim() } : { page: Number(number) };
}
