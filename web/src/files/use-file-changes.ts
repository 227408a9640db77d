import type { Artifact } from '@homeport/contracts/files/artifacts';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../api/api.ts';
import type { FileScope } from '../api/upload.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { scopeQuery } from './file-address.ts';
import { filesKey } from './files-api.ts';
import { nameOf } from './folders.ts';

/** Changes to the files of a namespace; `onChanged` is called after each. */
export function useFileChanges(scope: FileScope, onChanged?: () => void) {
  const t = useText();
  const queries = useQueryClient();
  return useMemo(() => {
    const owner = scopeQuery(scope);
    const refresh = async () => {
      onChanged?.();
      // A first listing under way can be older than the change, and an invalidation would join it.
      await queries.cancelQueries({ queryKey: filesKey(scope) });
      await queries.invalidateQueries({ queryKey: filesKey(scope) });
    };
    /** Throws the server's refusal. */
    const move = async (from: string, to: string, isUndo = false) => {
      await call('PATCH /api/artifacts', { body: { ...owner, from, to } });
      void refresh();
      if (isUndo) return;
      const undo = () =>
        move(to, from, true).catch((error: unknown) => showFailure(t('files.changeFailed'), failureText(error, t)));
      showToast(t('files.moved', { name: nameOf(from), path: to }), { label: t('nav.undo'), run: () => void undo() });
    };
    const remove = async (target: { id: string } | { prefix: string }, name: string): Promise<boolean> => {
      try {
        const { deleted } = await call('DELETE /api/artifacts', { query: { ...owner, ...target } });
        showToast(t('files.deleted', { name, count: deleted }));
        return true;
      } catch (error) {
        showFailure(t('files.changeFailed'), failureText(error, t));
        return false;
      } finally {
        void refresh();
      }
    };
    return {
      refresh,
      move,
      removeFile: ({ id, filename }: Artifact) => remove({ id }, filename),
      removeFolder: (path: string) => remove({ prefix: path }, nameOf(path)),
    };
  }, [scope, onChanged, queries, t]);
}
