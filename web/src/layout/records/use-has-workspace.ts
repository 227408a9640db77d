import { useQuery } from '@tanstack/react-query';
import { workspaceQuery } from '../../api/queries.ts';
import { useClientSession } from '../../conversation/client-session.ts';

/** Whether to show the workspace: if workspaces are off, only administrators see why. */
export function useHasWorkspace(): { hasWorkspace: boolean; isRunning: boolean } {
  const { user } = useClientSession();
  const { data } = useQuery({ ...workspaceQuery, staleTime: 60_000 });
  const isOn = data !== undefined && data.phase !== 'disabled';
  return { hasWorkspace: isOn || (data !== undefined && user.role === 'admin'), isRunning: data?.phase === 'running' };
}
