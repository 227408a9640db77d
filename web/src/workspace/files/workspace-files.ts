import type { WorkspaceEntry, WorkspaceFile, WorkspaceListing } from '@homeport/contracts/workspace/daemon';
import { infiniteQueryOptions, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call, fileAddress } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import { nameOf } from './paths.ts';

export const filesKey = ['workspace-files'];

/** A folder with its entries, or a file with its beginning. */
export function placeQuery(path: string) {
  return infiniteQueryOptions({
    queryKey: [...filesKey, path],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/workspace/files', {
        query: { path, limit: '500', ...(pageParam === '' ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (page) => (page.type === 'directory' ? page.nextCursor : null),
    // Programs in the workspace change files at any time: `useWorkspace` invalidates them while it runs.
    staleTime: 0,
  });
}

/** The pages of a place as one. */
export function joinPages(pages: readonly (WorkspaceListing | WorkspaceFile)[]): WorkspaceListing | WorkspaceFile {
  const [first] = pages;
  if (first === undefined) throw new ApiFailure('unreadable', '');
  if (first.type === 'file') return first;
  const entries = pages.flatMap((page) => (page.type === 'directory' ? page.entries : []));
  return { ...first, entries: entries.sort(byKindAndName) };
}

const collator = new Intl.Collator(undefined, { numeric: true });
function byKindAndName(a: WorkspaceEntry, b: WorkspaceEntry): number {
  const [aIsFolder, bIsFolder] = [a.type === 'directory', b.type === 'directory'];
  return aIsFolder === bIsFolder ? collator.compare(a.name, b.name) : aIsFolder ? -1 : 1;
}

export function downloadAddress(path: string): string {
  return fileAddress('GET /api/workspace/download', { path });
}

/** Mutations of the workspace's files. Mutations with an error display at the caller throw; others show a toast. */
export function useWorkspaceFiles() {
  const t = useText();
  const queries = useQueryClient();
  return useMemo(() => {
    const refresh = () => queries.invalidateQueries({ queryKey: filesKey });
    const move = async (from: string, to: string, isUndo = false): Promise<void> => {
      await call('PATCH /api/workspace/files', { body: { from, to } });
      void refresh();
      if (isUndo) return;
      const undo = () =>
        move(to, from, true).catch((error: unknown) => showFailure(t('files.changeFailed'), failureText(error, t)));
      showToast(t('files.moved', { name: nameOf(from), path: to }), { label: t('nav.undo'), run: () => void undo() });
    };
    return {
      refresh,
      move,
      makeFolder: async (path: string) => {
        await call('POST /api/workspace/folders', { body: { path } });
        await refresh();
      },
      remove: async (path: string): Promise<boolean> => {
        try {
          await call('DELETE /api/workspace/files', { query: { path } });
          showToast(t('workspace.deleted', { name: nameOf(path) }));
          return true;
        } catch (error) {
          showFailure(t('files.changeFailed'), failureText(error, t));
          return false;
        } finally {
          void refresh();
        }
      },
    };
  }, [queries, t]);
}
