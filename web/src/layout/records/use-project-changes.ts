import type { Project } from '@homeport/contracts/projects';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../api/api.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { showFailure, showToast } from '../toasts.tsx';

/** Changes to projects that take one click. */
export function useProjectChanges() {
  const t = useText();
  const queries = useQueryClient();
  return useMemo(() => {
    const refresh = () => {
      void queries.invalidateQueries({ queryKey: ['chats'] });
      return queries.invalidateQueries({ queryKey: ['projects'] });
    };
    const run = async (work: () => Promise<unknown>): Promise<boolean> => {
      try {
        await work();
        return true;
      } catch (error) {
        showFailure(t('projects.changeFailed'), failureText(error, t));
        return false;
      } finally {
        await refresh();
      }
    };
    const setArchived = async (project: Project, archived: boolean, isUndo = false): Promise<boolean> => {
      const { id, name } = project;
      const isDone = await run(() => call('PATCH /api/projects', { body: { id, archived } }));
      if (isDone && !isUndo) {
        const undo = { label: t('nav.undo'), run: () => void setArchived(project, !archived, true) };
        showToast(t(archived ? 'projects.archivedToast' : 'projects.restoredToast', { name }), undo);
      }
      return isDone;
    };
    return {
      refresh,
      setArchived,
      setRole: ({ id }: Project, email: string, role: 'owner' | 'member') =>
        run(() => call('POST /api/projects/members', { body: { projectId: id, email, role } })),
      removeMember: ({ id }: Project, userId: string) =>
        run(() => call('DELETE /api/projects/members', { query: { projectId: id, userId } })),
    };
  }, [queries, t]);
}
