import type { WorkspaceStatus, WorkspaceUsage } from '@homeport/contracts/workspace/workspace';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { call, startWorkspace } from '../api/api.ts';
import { workspaceQuery } from '../api/queries.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { showFailure } from '../layout/toasts.tsx';
import { filesKey } from './files/workspace-files.ts';

/** Milliseconds between two questions for its state. */
const ask = { starting: 1_000, else: 10_000 };

export type WorkspaceControl = {
  status: WorkspaceUsage | undefined;
  /** Why the state is not known. */
  error: unknown;
  /** Why the last start failed. */
  startFailure: unknown;
  isStarting: boolean;
  isStopping: boolean;
  start: () => void;
  stop: () => void;
  /** Called on signs that the state has changed. */
  refresh: () => Promise<WorkspaceStatus | undefined>;
};

/** State and controls of the person's workspace while it is shown. Showing it starts the workspace, once. */
export function useWorkspace(): WorkspaceControl {
  const t = useText();
  const queries = useQueryClient();
  const settled = () => queries.invalidateQueries({ queryKey: workspaceQuery.queryKey });
  const keep = (status: WorkspaceStatus) => {
    queries.setQueryData(workspaceQuery.queryKey, status);
    // The answer of a start or stop has no usage.
    void settled();
  };
  const starting = useMutation({ mutationFn: startWorkspace, onSuccess: keep, onError: settled });
  const stopping = useMutation({
    mutationFn: () => call('DELETE /api/workspace/status', {}),
    onSuccess: keep,
    onError: (error) => {
      showFailure(t('workspace.stopFailed'), failureText(error, t));
      void settled();
    },
  });
  const query = useQuery({
    ...workspaceQuery,
    staleTime: 0,
    refetchInterval: ({ state }) => (starting.isPending || state.data?.phase === 'starting' ? ask.starting : ask.else),
  });
  const status = query.data;
  const begin = starting.mutate;
  const hasBegun = useRef(false);
  useEffect(() => {
    if (status === undefined || hasBegun.current) return;
    hasBegun.current = true;
    if (status.phase === 'stopped') begin();
  }, [status, begin]);
  const isRunning = status?.phase === 'running';
  const { dataUpdatedAt } = query;
  useEffect(() => {
    // Only when it has just been seen running: reading files of a stopped one would start it.
    if (isRunning && dataUpdatedAt > 0) void queries.invalidateQueries({ queryKey: filesKey });
  }, [isRunning, dataUpdatedAt, queries]);
  return {
    status,
    error: query.error,
    startFailure: isRunning ? undefined : (starting.error ?? undefined),
    isStarting: !isRunning && (starting.isPending || status?.phase === 'starting'),
    isStopping: stopping.isPending,
    start: () => begin(),
    stop: () => {
      starting.reset();
      stopping.mutate();
    },
    refresh: async () => (await query.refetch()).data,
  };
}
