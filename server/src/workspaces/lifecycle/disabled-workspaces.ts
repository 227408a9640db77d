import { ApiError } from '@homeport/contracts/errors';
import type { Workspaces } from '../workspaces.ts';
import { defaultWorkspaceTimings } from './timings.ts';

/** Workspaces that are switched off: everything except their status is refused. */
export function disabledWorkspaces(notice: string | undefined): Workspaces {
  const refuse = async (): Promise<never> => {
    throw new ApiError('workspace_disabled', notice ?? 'Workspaces are switched off');
  };
  return {
    mode: 'disabled',
    notice,
    timings: defaultWorkspaceTimings,
    status: async () => ({
      phase: 'disabled',
      ready: false,
      mode: 'disabled',
      ...(notice === undefined ? {} : { message: notice }),
    }),
    start: refuse,
    stop: refuse,
    hold: refuse,
    ask: async () => undefined,
    findUser: async () => undefined,
    accountDisabled: async () => undefined,
    stopUnused: async () => undefined,
    close: async () => undefined,
  };
}
